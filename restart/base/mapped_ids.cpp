// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/mapped_ids.hpp"

#include <cstdint>
#include <fstream>
#include <optional>

namespace mcr::restart {
namespace {

/// Returns the overflow id if the map leaves out any id; nothing if all ids have a number of their own. A map may give the
/// overflow id to one user too (rootless podman does). It then still stands for others. A line of the map: first id in the
/// namespace, first id outside, how many.
std::optional<std::uint32_t> overflow_id(const char* map, const char* overflow) {
  constexpr std::uint64_t all_ids = 0xffffffff;
  // One read() each: a file of /proc/sys gives nothing more at a second one.
  std::uint64_t id = 65534;
  std::ifstream(overflow) >> id;
  std::ifstream lines(map);
  std::uint64_t first = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  std::uint64_t mapped = 0;
  while (lines >> first >> outside >> count) mapped += count;
  // Without a map (a kernel without user namespaces, or no /proc) nothing can be said against the ids.
  const bool is_partial = mapped > 0 && mapped < all_ids;
  return is_partial ? std::optional(static_cast<std::uint32_t>(id)) : std::nullopt;
}

std::optional<std::uint32_t> overflow_user() {
  static const auto id = overflow_id("/proc/self/uid_map", "/proc/sys/kernel/overflowuid");
  return id;
}

std::optional<std::uint32_t> overflow_group() {
  static const auto id = overflow_id("/proc/self/gid_map", "/proc/sys/kernel/overflowgid");
  return id;
}

}  // namespace

bool is_unmapped_user(uid_t user) { return overflow_user() == user; }

bool is_unmapped_group(gid_t group) { return overflow_group() == group; }

bool is_unmapped(const struct stat& status) {
  return is_unmapped_user(status.st_uid) || is_unmapped_group(status.st_gid);
}

bool are_all_ids_mapped() { return !overflow_user() && !overflow_group(); }

}  // namespace mcr::restart
