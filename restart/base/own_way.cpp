// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/own_way.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "restart/base/path_names.hpp"
#include "restart/base/replacers.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

constexpr int most_links = 40;

std::string without_end_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// Without a "/" at its end; empty if the variable is no absolute path.
std::string absolute_path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  std::string path = without_end_slashes(value == nullptr ? "" : value);
  return path.starts_with('/') ? path : std::string();
}

Error refused_link(const std::string& path) {
  errno = ELOOP;
  return system_error("cannot follow", path);
}

/// True if the link is this user's or root's. In a sticky directory, another user may have moved it there.
bool is_own(const struct stat& link, const struct stat& directory) {
  return is_own_link(link) && !others_may_only_add(directory);
}

/// True if only this user and root can have put the link there.
bool is_trusted(const struct stat& link, const struct stat& directory) {
  return is_own_link(link) && is_believed(directory.st_uid, ::geteuid()) &&
         !others_may_write(directory);
}

using LinkRule = bool(const struct stat& link, const struct stat& directory);

/// Opens the directory at `path`, which is absolute or begins at the open directory `at`. Follows the links that the rule
/// allows, and adds their directories to `followed`.
Result<File> open_by(File at, const std::string& path, LinkRule& may_follow,
                     std::vector<File>* followed = nullptr) {
  if (path.starts_with('/') || !at.is_open())
    at = MCR_TRY(File::open(AT_FDCWD, "/", O_PATH | O_DIRECTORY));
  std::string rest = path;
  int links = 0;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, end);
    rest.erase(0, std::min(end + 1, rest.size()));
    if (name.empty() || name == ".") continue;
    // O_DIRECTORY mounts an automount point; O_PATH alone does not.
    auto entered = File::open(at.descriptor(), name, O_PATH | O_NOFOLLOW | O_DIRECTORY);
    if (entered) {
      at = *std::move(entered);
      continue;
    }
    if (entered.error().system_error != ENOTDIR) return entered.error();
    const File next = MCR_TRY(File::open(at.descriptor(), name, O_PATH | O_NOFOLLOW));
    const struct stat status = MCR_TRY(next.status());
    if (!S_ISLNK(status.st_mode)) return entered.error();
    if (!may_follow(status, MCR_TRY(at.status())) || ++links > most_links)
      return refused_link(path);
    const std::string target = MCR_TRY(link_target(next));
    if (followed != nullptr)
      followed->push_back(MCR_TRY(File::open(at.descriptor(), ".", O_PATH | O_DIRECTORY)));
    if (target.starts_with('/')) at = MCR_TRY(File::open(AT_FDCWD, "/", O_PATH | O_DIRECTORY));
    rest = target + "/" + rest;
  }
  return at;
}

}  // namespace

Result<File> open_by_own_way(const std::string& path) { return open_by(File(), path, is_own); }

Result<File> open_by_trusted_way(const std::string& path) {
  return open_by(File(), path, is_trusted);
}

Result<WayEnd> follow_trusted_links(const File& start, const std::string& name) {
  File home = MCR_TRY(File::open(start.descriptor(), ".", O_PATH | O_DIRECTORY));
  std::string at = without_end_slashes(name);
  std::vector<File> followed;
  for (int links = 0; links < most_links; ++links) {
    const bool is_plain = is_plain_path(name_of(at));
    home = MCR_TRY(open_by(std::move(home), is_plain ? parent_of(at) : at, is_trusted, &followed));
    if (!is_plain) return WayEnd{std::move(home), ".", std::move(followed)};
    auto file = File::open(home.descriptor(), name_of(at), O_PATH | O_NOFOLLOW);
    if (!file && file.error().system_error != ENOENT) return file.error();
    struct stat status {};
    if (file) status = MCR_TRY(file->status());
    if (!file || !S_ISLNK(status.st_mode))
      return WayEnd{std::move(home), name_of(at), std::move(followed)};
    if (!is_trusted(status, MCR_TRY(home.status()))) break;
    followed.push_back(MCR_TRY(File::open(home.descriptor(), ".", O_PATH | O_DIRECTORY)));
    at = without_end_slashes(MCR_TRY(link_target(*file)));
  }
  return refused_link(name);
}

Result<WayEnd> follow_links_no_weaker_than_target(const File& start, const std::string& name) {
  WayEnd end = MCR_TRY(follow_trusted_links(start, name));
  for (const File& directory : end.links) {
    const auto trusted = may_trust(directory, end.directory, ::geteuid());
    // EACCES: this user may not look at a directory above, so it is not known who may write there.
    if (!trusted && trusted.error().system_error != EACCES) return trusted.error();
    if (!trusted || !*trusted) return refused_link(name);
  }
  return end;
}

bool leads_by_trusted_links(const std::string& name, const FileIdentity& directory,
                            const std::string& last) {
  const auto start = File::open(AT_FDCWD, ".", O_PATH | O_DIRECTORY);
  const auto end = start ? follow_trusted_links(*start, name) : Result<WayEnd>(start.error());
  const auto status = end ? end->directory.status() : Result<struct stat>(end.error());
  return status && FileIdentity(*status) == directory && end->name == last;
}

std::string own_place(const char* variable, const std::string& below_home) {
  const std::string named = absolute_path_in(variable);
  if (!named.empty()) return named;
  const std::string home = absolute_path_in("HOME");
  return home.empty() ? home : home + "/" + below_home;
}

bool is_own_place(const char* variable) {
  const std::string named = absolute_path_in(variable);
  const auto place = open_by_own_way(named.empty() ? absolute_path_in("HOME") : named);
  if (!place && !named.empty() && place.error().system_error == ENOENT) return true;
  const auto status = place ? place->status() : Result<struct stat>(place.error());
  if (!status || !is_believed(status->st_uid, ::geteuid())) return false;
  // On many systems each user has a group of his own, and umask 002.
  const bool group_writes = (status->st_mode & S_IWGRP) != 0 && status->st_gid != ::getegid();
  return !group_writes && (status->st_mode & S_IWOTH) == 0;
}

}  // namespace mcr::restart
