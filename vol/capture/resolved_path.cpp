// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/resolved_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "restart/base/closed_directories.hpp"
#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/path_names.hpp"
#include "restart/format/journal.hpp"

namespace mcr::vol {

namespace {

constexpr int max_links = 40;  // as in Linux

// Returns the path that the kernel knows for the directory, or realpath() without /proc.
std::string path_of(const restart::File& directory) {
  std::string path = restart::present_path(directory);
  return path.empty() ? restart::real_path(directory.name()) : path;
}

struct KnownDirectory {
  std::string path;
  std::vector<restart::FileIdentity> above;  // restart::directories_above()
};

// A cache, because asking the kernel about a directory costs as much time as an empty file does with
// native HDF5.
struct KnownDirectories {
  std::mutex mutex;
  std::map<restart::FileIdentity, KnownDirectory> directories;
};
KnownDirectories& known_directories() {
  // Never destroyed: used after static destructors have run.
  static KnownDirectories& directories = *new KnownDirectories;
  return directories;
}

// Uses what is cached only if the path still leads to that directory.
KnownDirectory look_up(const restart::File& directory, restart::FileIdentity identity) {
  constexpr std::size_t most_known = 64;
  const std::lock_guard lock(known_directories().mutex);
  auto& directories = known_directories().directories;
  struct stat status {};
  if (const auto known = directories.find(identity); known != directories.end()) {
    if (stat(known->second.path.c_str(), &status) == 0 && restart::FileIdentity(status) == identity)
      return known->second;
    directories.erase(known);
  }
  KnownDirectory found{path_of(directory),
                       restart::directories_above(directory, restart::max_directories_above)};
  if (directories.size() == most_known) directories.clear();
  if (!found.path.empty()) directories[identity] = found;
  return found;
}

// Opens the directory of `name` and finds its path.
Result<void> enter_directory(const std::string& name, ResolvedPath& resolved) {
  auto home =
      MCR_TRY(restart::File::open(AT_FDCWD, restart::parent_of(name), O_PATH | O_DIRECTORY));
  resolved.directory_status = MCR_TRY(home.status());
  KnownDirectory known = look_up(home, restart::FileIdentity(resolved.directory_status));
  resolved.directory = std::move(known.path);
  resolved.above = std::move(known.above);
  resolved.name = restart::name_of(name);
  resolved.home = std::make_shared<const restart::File>(std::move(home));
  return {};
}

bool kernel_protects_links() {
  const auto setting = restart::read_file(AT_FDCWD, "/proc/sys/fs/protected_symlinks", 16);
  return !setting || setting->empty() || setting->front() != std::byte{'0'};
}

// Applies the kernel's rule fs.protected_symlinks to links that we follow ourselves. In a sticky
// directory that all users may write to, links of other users are not followed.
bool is_protected(const struct stat& link, const struct stat& directory) {
  constexpr mode_t sticky_and_open = S_ISVTX | S_IWOTH;
  return (directory.st_mode & sticky_and_open) == sticky_and_open && link.st_uid != geteuid() &&
         link.st_uid != directory.st_uid && kernel_protects_links();
}

}  // namespace

Result<ResolvedPath> resolve_path(const std::string& name) {
  std::string at = name;
  ResolvedPath resolved;
  struct stat status {};
  for (int links = 0;; ++links) {
    MCR_TRY(enter_directory(at, resolved));
    const int home = resolved.home->descriptor();
    const char* last = resolved.name.c_str();
    if (fstatat(home, last, &status, AT_SYMLINK_NOFOLLOW) != 0) break;
    if (!S_ISLNK(status.st_mode)) {
      resolved.status = status;
      break;
    }
    const auto link_file = restart::File::open(home, last, O_PATH | O_NOFOLLOW);
    if (!link_file) break;
    if (is_protected(MCR_TRY(link_file->status()), resolved.directory_status)) {
      errno = EACCES;
      return restart::system_error("cannot follow the link of another user:", name);
    }
    const auto link = restart::link_target(*link_file);
    if (!link) break;
    if (links == max_links) {
      errno = ELOOP;
      return restart::system_error("cannot follow", name);
    }
    resolved.is_linked = true;
    at = link->front() == '/' ? *link : restart::parent_of(at) + "/" + *link;
  }
  const std::string& last = resolved.name;
  if (resolved.directory.empty() || last.empty() || last == "." || last == "..") {
    errno = EISDIR;
    return restart::system_error("cannot resolve", name);
  }
  resolved.path = (resolved.directory == "/" ? "" : resolved.directory) + "/" + last;
  return resolved;
}

}  // namespace mcr::vol
