// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/own_way.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

constexpr int most_links = 40;

Error too_many_links(const std::string& path) {
  errno = ELOOP;
  return system_error("cannot follow", path);
}

Result<std::string> target_of(const File& link, const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length =
      system_calls().readlinkat(link.descriptor(), "", target.data(), target.size());
  if (length < 0) return system_error("cannot read the link", path);
  target.resize(static_cast<std::size_t>(length));
  return target;
}

}  // namespace

Result<File> open_by_own_way(const std::string& path) {
  constexpr int to_pass = O_PATH | O_NOFOLLOW;
  File at = MCR_TRY(File::open(AT_FDCWD, "/", O_PATH | O_DIRECTORY));
  std::string rest = path;
  int links = 0;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, end);
    rest.erase(0, std::min(end + 1, rest.size()));
    if (name.empty() || name == ".") continue;
    File next = MCR_TRY(File::open(at.descriptor(), name, to_pass));
    const struct stat status = MCR_TRY(next.status());
    if (!S_ISLNK(status.st_mode)) {
      at = std::move(next);
      continue;
    }
    if (!is_own_link(status) || ++links > most_links) return too_many_links(path);
    const std::string target = MCR_TRY(target_of(next, path));
    if (target.starts_with('/')) at = MCR_TRY(File::open(AT_FDCWD, "/", O_PATH | O_DIRECTORY));
    rest = target + "/" + rest;
  }
  // The last component may be a file.
  return File::open(at.descriptor(), ".", O_PATH | O_DIRECTORY);
}

}  // namespace mcr::restart
