// SPDX-License-Identifier: BSD-3-Clause
#include "vol/connector/resolved_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "restart/base/file.hpp"

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
  const std::string link = "/proc/self/fd/" + std::to_string(directory.descriptor());
  const ssize_t length = readlink(link.c_str(), buffer.data(), buffer.size() - 1);
  if (length > 0 && buffer[0] == '/')
    return std::string(buffer.data(), static_cast<std::size_t>(length));
  return realpath(directory.name().c_str(), buffer.data()) != nullptr ? buffer.data()
                                                                      : std::string();
}

}  // namespace

Result<ResolvedPath> resolve_path(const std::string& name) {
  std::string at = name;
  std::array<char, PATH_MAX> target;
  for (int links = 0;; ++links) {
    const ssize_t length = readlink(at.c_str(), target.data(), target.size());
    if (length <= 0) break;
    if (links == max_links) {
      errno = ELOOP;
      return restart::system_error("cannot follow", name);
    }
    const std::string link(target.data(), static_cast<std::size_t>(length));
    at = link.front() == '/' ? link : directory_of(at) + "/" + link;
  }
  ResolvedPath resolved;
  const auto directory =
      MCR_TRY(restart::File::open(AT_FDCWD, directory_of(at), O_PATH | O_DIRECTORY));
  resolved.directory_status = MCR_TRY(directory.status());
  resolved.directory = path_of(directory);
  const std::string last = last_component(at);
  if (resolved.directory.empty() || last.empty()) {
    errno = EISDIR;
    return restart::system_error("cannot resolve", name);
  }
  resolved.path = (resolved.directory == "/" ? "" : resolved.directory) + "/" + last;
  struct stat status {};
  if (fstatat(directory.descriptor(), last.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
    resolved.status = status;
  return resolved;
}

}  // namespace mcr::vol
