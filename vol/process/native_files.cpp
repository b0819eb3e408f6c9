// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/native_files.hpp"

#include <fcntl.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::vol {

namespace {

constinit std::array<std::atomic<std::uint64_t>, restart::native_reasons.size()> counts{};

/// The most files that are remembered. Further files that are opened for writing are not counted.
constexpr std::size_t most_files = 4096;

struct Counted {
  std::mutex mutex;
  std::set<restart::FileIdentity> files;
};
Counted& counted() {
  // Never destroyed: HDF5 closes files after static destructors have run.
  static Counted& counted = *new Counted;
  return counted;
}

/// True if the file was not known before.
bool remember(restart::FileIdentity file) {
  const std::lock_guard lock(counted().mutex);
  auto& files = counted().files;
  return files.size() < most_files && files.insert(file).second;
}

}  // namespace

void count_native_file(restart::NativeReason reason) {
  counts[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

void count_written_in_place(restart::FileIdentity file) {
  if (remember(file)) count_native_file(restart::NativeReason::appended);
}

void note_native_file(restart::FileIdentity file) { (void)remember(file); }

restart::NativeCounts take_native_counts() {
  restart::NativeCounts taken;
  for (std::size_t i = 0; i < counts.size(); ++i) taken.numbers[i] = counts[i].exchange(0);
  return taken;
}

void tell_doctor(const restart::CaptureCounts& counts) {
  const char* const directory = std::getenv("MCR_DOCTOR_COUNTS");
  const std::string text = restart::write_capture_counts(counts);
  if (directory == nullptr || *directory != '/' || text.empty()) return;
  const auto id = restart::PartId::random();
  if (!id) return;
  const auto file = restart::File::open(AT_FDCWD, std::string(directory) + "/" + id->text(),
                                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (file) (void)file->write_at(0, as_bytes(text)).has_value();
}

}  // namespace mcr::vol
