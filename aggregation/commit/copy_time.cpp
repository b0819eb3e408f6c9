// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/copy_time.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint64_t copied_bytes_per_ms = 20'000;
constexpr std::uint64_t least_ms = 2'000;
constexpr std::uint64_t longest_ms = 600'000;
constexpr std::size_t most_names = 2000;
constexpr std::uint64_t block_bytes = 512;  // of st_blocks

}  // namespace

std::uint64_t copy_time_ms(const std::string& directory) {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  std::vector<std::string> waiting{directory};
  while (!waiting.empty()) {
    const std::string here = std::exchange(waiting.back(), {});
    waiting.pop_back();
    const auto names = restart::list_directory(AT_FDCWD, here);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (++count == most_names) return longest_ms;
      const std::string path = here + "/" + name;
      struct stat status {};
      if (restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) !=
          0)
        continue;
      if (S_ISDIR(status.st_mode)) waiting.push_back(path);
      if (S_ISREG(status.st_mode))
        bytes += static_cast<std::uint64_t>(status.st_blocks) * block_bytes;
    }
  }
  return std::min(least_ms + bytes / copied_bytes_per_ms, longest_ms);
}

}  // namespace mcr::aggregation
