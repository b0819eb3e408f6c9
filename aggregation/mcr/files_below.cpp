// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/files_below.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;

struct Directory {
  std::string below;  ///< its path relative to `top`; empty: `top` itself
  std::size_t level = 0;
};

std::string in(const std::string& directory, const std::string& name) {
  if (directory.empty()) return name;
  return directory == "/" ? "/" + name : directory + "/" + name;
}

Result<File> open_directory(const File& top, const std::string& below) {
  constexpr int flags = O_RDONLY | O_DIRECTORY;
  return below.empty() ? File::open(top.descriptor(), ".", flags)
                       : restart::open_beneath(top.descriptor(), below, flags);
}

}  // namespace

NotLookedAt look_below(const File& top, const std::string& root, std::size_t levels,
                       const std::function<void(const std::string& path)>& look) {
  NotLookedAt left;
  std::vector<Directory> waiting{{}};
  while (!waiting.empty()) {
    const Directory here = std::move(waiting.back());
    waiting.pop_back();
    const auto directory = open_directory(top, here.below);
    const auto names = directory ? restart::list_directory(directory->descriptor(), ".")
                                 : Result<std::vector<std::string>>(directory.error());
    if (!names) {
      const int problem = names.error().system_error;
      if (problem != ENOENT)  // ENOENT: the directory was removed meanwhile
        left.closed.push_back((here.below.empty() ? root : in(root, here.below)) + ": " +
                              std::generic_category().message(problem));
      continue;
    }
    for (const std::string& name : *names) {
      struct stat status {};
      if (restart::system_calls().fstatat(directory->descriptor(), name.c_str(), &status,
                                          AT_SYMLINK_NOFOLLOW) != 0)
        continue;
      const std::string below = in(here.below, name);
      if (S_ISREG(status.st_mode)) look(in(root, below));
      if (!S_ISDIR(status.st_mode)) continue;
      if (here.level == levels) {
        left.too_deep.push_back(in(root, below));
      } else {
        waiting.push_back({below, here.level + 1});
      }
    }
  }
  return left;
}

}  // namespace mcr::aggregation
