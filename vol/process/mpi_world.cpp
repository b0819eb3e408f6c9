// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/mpi_world.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>

namespace mcr::vol {

namespace {

// The handle in MPICH and all libraries that share its binary interface (Intel, Cray, MVAPICH).
constexpr int mpich_world = 0x44000000;
// Larger than any implementation's MPI_MAX_LIBRARY_VERSION_STRING.
constexpr std::size_t version_bytes = 16 * 1024;
constexpr int thread_serialized = 2;  // in MPICH's interface and in Open MPI

template <typename Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

bool answers_yes(const char* question) {
  int flag = 0;
  auto* const ask = symbol<int(int*)>(question);
  return ask != nullptr && ask(&flag) == 0 && flag != 0;
}

// Returns how many libraries were loaded so far.
unsigned long long loaded_libraries() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

// True if an MPI library is loaded. Called before each create of a program without MPI, so the
// search is repeated only after a library was loaded.
bool is_loaded() {
  static constinit std::atomic<unsigned long long> none_among{0};
  const unsigned long long libraries = loaded_libraries();
  if (none_among == libraries) return false;
  if (symbol<int(int*)>("MPI_Initialized") != nullptr) return true;
  none_among = libraries;
  return false;
}

bool has_mpich_interface() {
  auto* const get_version = symbol<int(char*, int*)>("MPI_Get_library_version");
  if (get_version == nullptr) return false;
  // Libraries with the binary interface of the MPI standard have other handles.
  if (auto* const get_standard = symbol<int(int*, int*)>("MPI_Abi_get_version")) {
    int major = 0;
    int minor = 0;
    if (get_standard(&major, &minor) != 0 || major >= 1) return false;
  }
  std::array<char, version_bytes> text{};
  int length = 0;
  if (get_version(text.data(), &length) != 0) return false;
  const std::string_view version(text.data());
  constexpr std::array<std::string_view, 3> words = {"MPICH", "Intel(R) MPI", "MVAPICH"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return version.find(word) != std::string_view::npos;
  });
}

bool may_this_thread_ask() {
  int level = 0;
  auto* const query = symbol<int(int*)>("MPI_Query_thread");
  if (query == nullptr || query(&level) != 0) return false;
  return level >= thread_serialized || answers_yes("MPI_Is_thread_main");
}

template <typename Communicator>
std::optional<restart::MpiWorld> ask(Communicator world) {
  auto* const get_rank = symbol<int(Communicator, int*)>("MPI_Comm_rank");
  auto* const get_size = symbol<int(Communicator, int*)>("MPI_Comm_size");
  int rank = -1;
  int size = 0;
  if (get_rank == nullptr || get_size == nullptr || get_rank(world, &rank) != 0 ||
      get_size(world, &size) != 0 || rank < 0 || rank >= size) {
    return std::nullopt;
  }
  return restart::MpiWorld{static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(size)};
}

}  // namespace

std::optional<restart::MpiWorld> mpi_world() {
  if (!is_loaded() || !answers_yes("MPI_Initialized") || answers_yes("MPI_Finalized") ||
      !may_this_thread_ask()) {
    return std::nullopt;
  }
  // Open MPI's handle is the address of this object.
  if (void* const world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world")) return ask<void*>(world);
  if (has_mpich_interface()) return ask<int>(mpich_world);
  return std::nullopt;
}

bool has_finalized_mpi() { return is_loaded() && answers_yes("MPI_Finalized"); }

}  // namespace mcr::vol
