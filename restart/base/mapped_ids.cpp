// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/mapped_ids.hpp"

#include <fcntl.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "restart/base/file.hpp"

namespace mcr::restart {
namespace {

std::vector<std::uint64_t> numbers_in(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint64_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec == std::errc()) numbers.push_back(number);
    at = read.ptr == at ? at + 1 : read.ptr;
  }
  return numbers;
}

/// Reads a number of /proc/sys. Such a file gives all of it at the first read, and 0 bytes at the next.
std::optional<std::uint64_t> number_of_system(const char* name) {
  std::array<std::byte, 32> text{};
  const auto file = File::open(AT_FDCWD, name, O_RDONLY);
  const auto bytes = file ? file->read_some_at(0, text) : Result<std::size_t>(file.error());
  if (!bytes) return std::nullopt;
  const auto numbers = numbers_in(as_text(ByteSpan(text).first(*bytes)));
  return numbers.empty() ? std::nullopt : std::optional(numbers.front());
}

/// Returns the overflow id if the map leaves out any id; nothing if all ids have a number of their own. A map may give the
/// overflow id to one user too (rootless podman does). It then still stands for others. A line of the map: first id in the
/// namespace, first id outside, how many.
std::optional<std::uint32_t> overflow_id(const char* map, const char* overflow) {
  constexpr std::uint64_t all_ids = 0xffffffff;
  constexpr std::size_t most_bytes = 64 * 1024;  // a map has at most 340 lines
  std::uint64_t mapped = 0;
  if (const auto text = read_file(AT_FDCWD, map, most_bytes)) {
    const std::vector<std::uint64_t> numbers = numbers_in(as_text(*text));
    for (std::size_t i = 2; i < numbers.size(); i += 3) mapped += numbers[i];
  }
  // Without a map (a kernel without user namespaces, or no /proc) nothing can be said against the ids.
  if (mapped == 0 || mapped >= all_ids) return std::nullopt;
  return static_cast<std::uint32_t>(number_of_system(overflow).value_or(65534));
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
