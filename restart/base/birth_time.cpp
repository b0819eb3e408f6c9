// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/birth_time.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cstddef>
#include <optional>

#include "codecs/base/checksum.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {

namespace {

bool has_local_clock(const File& file) {
  struct statfs status {};
  if (::fstatfs(file.descriptor(), &status) != 0) return false;
  const auto type = static_cast<long>(status.f_type);
  return type == EXT4_SUPER_MAGIC || type == TMPFS_MAGIC || type == XFS_SUPER_MAGIC ||
         type == BTRFS_SUPER_MAGIC || type == OVERLAYFS_SUPER_MAGIC;
}

std::uint64_t nanoseconds(const struct statx_timestamp& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Returns when the file was made; nothing if birth times are not recorded.
std::optional<struct statx> times_of(const File& file) {
  struct statx status {};
  if (::statx(file.descriptor(), "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0 ||
      (status.stx_mask & STATX_BTIME) == 0)
    return std::nullopt;
  return status;
}

}  // namespace

bool was_made_after(const File& file, std::uint64_t moment_ns) {
  const auto times = has_local_clock(file) ? times_of(file) : std::nullopt;
  if (!times) return false;
  const std::uint64_t made_ns = nanoseconds(times->stx_btime);
  return made_ns > moment_ns && made_ns <= clock_ns(CLOCK_REALTIME);
}

bool was_made_before(const File& file, std::uint64_t moment_ns) {
  // File systems take the time of the last tick of the clock, which is up to 10 ms old.
  constexpr std::uint64_t most_late_ns = 100'000'000;
  const auto times = has_local_clock(file) ? times_of(file) : std::nullopt;
  return times && nanoseconds(times->stx_btime) + most_late_ns < moment_ns;
}

std::uint64_t birth_time_of(const File& file) {
  const auto times = times_of(file);
  return times ? nanoseconds(times->stx_btime) : 0;
}

std::uint64_t handle_of(const File& file) {
  // The handle's bytes follow its head.
  alignas(struct file_handle) std::array<std::byte, sizeof(struct file_handle) + MAX_HANDLE_SZ>
      room{};
  auto* const handle = reinterpret_cast<struct file_handle*>(room.data());
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (!has_local_clock(file) ||
      ::name_to_handle_at(file.descriptor(), "", handle, &mount, AT_EMPTY_PATH) != 0)
    return 0;
  return checksum(ByteSpan(room).subspan(sizeof(struct file_handle), handle->handle_bytes));
}

bool is_gone_or_made_after(const std::string& directory, std::uint64_t moment_ns) {
  const auto file = File::open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
  return file ? was_made_after(*file, moment_ns) : leads_nowhere(file.error().system_error);
}

}  // namespace mcr::restart
