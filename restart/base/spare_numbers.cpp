// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/spare_numbers.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>

#include "restart/base/system.hpp"

namespace mcr::restart {
namespace {

constinit std::atomic<bool> is_spared{false};

/// Descriptors below this number stay as they are, without a look at the limit, because no program
/// works with a lower limit.
constexpr int always_there = 16;

bool is_upper_half(int descriptor, const rlimit& limit) {
  const auto number = static_cast<rlim_t>(descriptor);
  return limit.rlim_cur != RLIM_INFINITY && number < limit.rlim_cur &&
         number + 2 > limit.rlim_cur / 2;
}

int moved_to(int descriptor, int lowest) {
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
  if (moved < 0) return descriptor;
  system_calls().close(descriptor);
  return moved;
}

}  // namespace

void spare_numbers_of_program() { is_spared = true; }

int spared_number(int descriptor) {
  if (descriptor <= STDERR_FILENO) return moved_to(descriptor, STDERR_FILENO + 1);
  rlimit limit{};
  if (!is_spared || descriptor < always_there || ::getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      !is_upper_half(descriptor, limit) || limit.rlim_max <= limit.rlim_cur) {
    return descriptor;
  }
  // Raise the soft limit for a moment. Our file keeps its number when the limit is restored. A file
  // that another thread opens meanwhile gets the lowest free number, as always.
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) != 0) return descriptor;
  const int spared = moved_to(descriptor, static_cast<int>(limit.rlim_cur));
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  return spared;
}

bool are_numbers_few(int descriptor) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && is_upper_half(descriptor, limit);
}

}  // namespace mcr::restart
