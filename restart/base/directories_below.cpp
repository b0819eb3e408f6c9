// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/directories_below.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

bool is_link(int directory, const std::string& name) {
  struct stat status {};
  return system_calls().fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

}  // namespace

Result<DirectoriesBelow> DirectoriesBelow::open(const std::string& name) {
  return DirectoriesBelow(MCR_TRY(File::open(AT_FDCWD, name, O_PATH | O_DIRECTORY)));
}

Result<int> DirectoriesBelow::make(const std::string& path) {
  if (path.empty()) return top_.descriptor();
  if (const auto known = below_.find(path); known != below_.end())
    return known->second.descriptor();
  const std::size_t slash = path.rfind('/');
  const int above = MCR_TRY(make(slash == std::string::npos ? "" : path.substr(0, slash)));
  File made = MCR_TRY(make_in(above, path));
  return below_.emplace(path, std::move(made)).first->second.descriptor();
}

Result<File> DirectoriesBelow::make_in(int above, const std::string& path) const {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string shown = top_.name() + "/" + path;
  if (system_calls().mkdirat(above, name.c_str(), 0777) != 0 && errno != EEXIST)
    return system_error("cannot make the directory", shown);
  auto directory = open_beneath(above, name, O_PATH | O_DIRECTORY);
  if (directory) return directory;
  const Error error = directory.error();
  if (is_link(above, name)) {
    return Error{Cause::usage, shown +
                                   " is a symbolic link, and mcr follows no links here: remove the "
                                   "link, or name another directory"};
  }
  return Error{error.cause, shown + ": " + error.message, error.system_error};
}

}  // namespace mcr::restart
