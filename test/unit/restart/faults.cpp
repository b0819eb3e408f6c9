// SPDX-License-Identifier: BSD-3-Clause
#include "test/unit/restart/faults.hpp"

namespace mcr::restart {
namespace {

long call_count = 0;
long faulty_call = -1;
Fault kind_of_fault = Fault::error;
int error_number = EIO;
std::string faulty_name;

/// Counts the call; true if this call is the one that misbehaves.
bool is_hit(const char* name) {
  if (call_count++ != faulty_call) return false;
  faulty_name = name;
  return true;
}

template <typename Answer>
Answer refuse() {
  errno = kind_of_fault == Fault::interrupted ? EINTR : error_number;
  return Answer(-1);
}

/// A call without bytes to transfer, for which Fault::short_transfer has no meaning.
template <auto Member, typename... Arguments>
auto plain(const char* name, Arguments... arguments) {
  using Answer = decltype((real_system_calls().*Member)(arguments...));
  if (is_hit(name) && kind_of_fault != Fault::short_transfer) return refuse<Answer>();
  return (real_system_calls().*Member)(arguments...);
}

std::size_t shortened(std::size_t bytes) { return bytes > 1 ? bytes / 2 : bytes; }

const SystemCalls& table() {
  static const SystemCalls calls = [] {
    SystemCalls t = real_system_calls();
    t.openat = [](int d, const char* n, int f, mode_t m) {
      return plain<&SystemCalls::openat>("openat", d, n, f, m);
    };
    t.pread = [](int d, void* out, std::size_t bytes, off_t offset) -> ssize_t {
      if (is_hit("pread")) {
        if (kind_of_fault != Fault::short_transfer) return refuse<ssize_t>();
        bytes = shortened(bytes);
      }
      return real_system_calls().pread(d, out, bytes, offset);
    };
    t.pwrite = [](int d, const void* data, std::size_t bytes, off_t offset) -> ssize_t {
      if (is_hit("pwrite")) {
        if (kind_of_fault != Fault::short_transfer) return refuse<ssize_t>();
        bytes = shortened(bytes);
      }
      return real_system_calls().pwrite(d, data, bytes, offset);
    };
    t.write = [](int d, const void* data, std::size_t bytes) -> ssize_t {
      if (is_hit("write")) {
        if (kind_of_fault != Fault::short_transfer) return refuse<ssize_t>();
        bytes = shortened(bytes);
      }
      return real_system_calls().write(d, data, bytes);
    };
    t.ftruncate = [](int d, off_t size) {
      return plain<&SystemCalls::ftruncate>("ftruncate", d, size);
    };
    t.memory_file = [] { return plain<&SystemCalls::memory_file>("memory_file"); };
    t.fsync = [](int d) { return plain<&SystemCalls::fsync>("fsync", d); };
    t.fstat = [](int d, struct stat* s) { return plain<&SystemCalls::fstat>("fstat", d, s); };
    t.fstatat = [](int d, const char* n, struct stat* s, int f) {
      return plain<&SystemCalls::fstatat>("fstatat", d, n, s, f);
    };
    t.fchmod = [](int d, mode_t m) { return plain<&SystemCalls::fchmod>("fchmod", d, m); };
    t.fchmodat = [](int d, const char* n, mode_t m, int f) {
      return plain<&SystemCalls::fchmodat>("fchmodat", d, n, m, f);
    };
    t.flock = [](int d, int o) { return plain<&SystemCalls::flock>("flock", d, o); };
    t.lock_place = [](int d, short k, off_t p) {
      return plain<&SystemCalls::lock_place>("lock_place", d, k, p);
    };
    t.renameat = [](int a, const char* b, int c, const char* d) {
      return plain<&SystemCalls::renameat>("renameat", a, b, c, d);
    };
    t.rename_new = [](int a, const char* b, int c, const char* d) {
      return plain<&SystemCalls::rename_new>("rename_new", a, b, c, d);
    };
    t.linkat = [](int a, const char* b, int c, const char* d, int f) {
      return plain<&SystemCalls::linkat>("linkat", a, b, c, d, f);
    };
    t.unlinkat = [](int d, const char* n, int f) {
      return plain<&SystemCalls::unlinkat>("unlinkat", d, n, f);
    };
    t.mkdirat = [](int d, const char* n, mode_t m) {
      return plain<&SystemCalls::mkdirat>("mkdirat", d, n, m);
    };
    t.getrandom = [](void* out, std::size_t bytes, unsigned flags) -> ssize_t {
      if (is_hit("getrandom")) {
        if (kind_of_fault != Fault::short_transfer) return refuse<ssize_t>();
        bytes = shortened(bytes);
      }
      return real_system_calls().getrandom(out, bytes, flags);
    };
    return t;
  }();
  return calls;
}

}  // namespace

FaultySystem::FaultySystem(long at, Fault fault, int number) : replaced_(table()) {
  call_count = 0;
  faulty_call = at;
  kind_of_fault = fault;
  error_number = number;
  faulty_name.clear();
}
FaultySystem::~FaultySystem() { faulty_call = -1; }

long FaultySystem::calls() const { return call_count; }
const std::string& FaultySystem::hit() const { return faulty_name; }

}  // namespace mcr::restart
