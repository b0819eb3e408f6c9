// SPDX-License-Identifier: BSD-3-Clause
#include "vol/connector/resolved_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>
#include <mutex>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::vol {

namespace {

constexpr int max_links = 40;  // as Linux

std::string directory_of(const std::string& name) {
  const auto slash = name.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : name.substr(0, slash);
}

std::string last_component(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

// The kernel's own answer; realpath() where there is no /proc.
std::string path_of(const restart::File& directory) {
  std::array<char, PATH_MAX> buffer;
  const std::string link = restart::link_path(directory.descriptor());
  const ssize_t length = readlink(link.c_str(), buffer.data(), buffer.size() - 1);
  if (length > 0 && buffer[0] == '/')
    return std::string(buffer.data(), static_cast<std::size_t>(length));
  return realpath(directory.name().c_str(), buffer.data()) != nullptr ? buffer.data()
                                                                      : std::string();
}

// What resolve_path found out about directories before. Asking the kernel anew costs four calls,
// and an empty file costs native HDF5 ten.
struct KnownDirectory {
  std::string path;
  restart::FileIdentity identity;
};
struct KnownDirectories {
  std::mutex mutex;
  std::map<std::string, KnownDirectory> by_name;
};
KnownDirectories& known_directories() {
  static KnownDirectories& directories = *new KnownDirectories;  // never destroyed
  return directories;
}

bool leads_to(const std::string& path, const KnownDirectory& known, struct stat& status) {
  return stat(path.c_str(), &status) == 0 && restart::FileIdentity(status) == known.identity;
}

// A name is trusted where it and the path found for it still lead to the same directory as then.
std::optional<std::string> known_path(const std::string& name, struct stat& status) {
  const std::lock_guard lock(known_directories().mutex);
  const auto found = known_directories().by_name.find(name);
  if (found == known_directories().by_name.end()) return std::nullopt;
  const KnownDirectory& known = found->second;
  const bool same =
      leads_to(name, known, status) && (name == known.path || leads_to(known.path, known, status));
  if (same) return known.path;
  known_directories().by_name.erase(found);
  return std::nullopt;
}

Result<std::string> path_of_directory(const std::string& name, struct stat& status) {
  if (auto known = known_path(name, status)) return std::move(*known);
  const auto directory = MCR_TRY(restart::File::open(AT_FDCWD, name, O_PATH | O_DIRECTORY));
  status = MCR_TRY(directory.status());
  std::string path = path_of(directory);
  const std::lock_guard lock(known_directories().mutex);
  if (known_directories().by_name.size() > 64) known_directories().by_name.clear();
  if (!path.empty()) known_directories().by_name[name] = {path, restart::FileIdentity(status)};
  return path;
}

}  // namespace

Result<ResolvedPath> resolve_path(const std::string& name) {
  std::string at = name;
  ResolvedPath resolved;
  struct stat status {};
  std::array<char, PATH_MAX> target;
  for (int links = 0;; ++links) {
    if (lstat(at.c_str(), &status) != 0) break;
    if (!S_ISLNK(status.st_mode)) {
      resolved.status = status;
      break;
    }
    const ssize_t length = readlink(at.c_str(), target.data(), target.size());
    if (length <= 0) break;
    if (links == max_links) {
      errno = ELOOP;
      return restart::system_error("cannot follow", name);
    }
    const std::string link(target.data(), static_cast<std::size_t>(length));
    at = link.front() == '/' ? link : directory_of(at) + "/" + link;
  }
  resolved.directory = MCR_TRY(path_of_directory(directory_of(at), resolved.directory_status));
  const std::string last = last_component(at);
  if (resolved.directory.empty() || last.empty() || last == "." || last == "..") {
    errno = EISDIR;
    return restart::system_error("cannot resolve", name);
  }
  resolved.path = (resolved.directory == "/" ? "" : resolved.directory) + "/" + last;
  return resolved;
}

}  // namespace mcr::vol
