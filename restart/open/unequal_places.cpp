// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/unequal_places.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <map>
#include <set>
#include <string_view>

#include "restart/base/membership.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

/// Users, each as a text: "u:7", "g:7", "all", an access list, or something about which nothing is known.
using Users = std::set<std::string>;

std::optional<struct stat> look_at(const std::string& path, int flags) {
  struct stat status {};
  if (system_calls().fstatat(AT_FDCWD, path.c_str(), &status, flags) != 0) return std::nullopt;
  return status;
}

std::string list_of(const std::string& path) {
  std::string text;
  if (const auto opened = File::open(AT_FDCWD, path, O_PATH)) {
    for (const std::byte byte : access_list_of(*opened)) text += static_cast<char>(byte);
  }
  return text;
}

bool lies_in(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory == "/" ? directory : directory + "/");
}

class Places {
 public:
  Places(std::string base, uid_t owner) : base_(std::move(base)), owner_(owner) {
    lets_in_[base_] = true;
    for (std::string at = base_; at != "/"; at = parent_of(at)) {
      const auto status = look_at(at, 0);
      if (status && lets_nobody_in(at, *status)) lets_in_[base_] = false;
    }
  }

  /// True if other users may put a file into the directory base, but not replace what is there, or if that is not known.
  [[nodiscard]] bool strangers_may_add_to_base() const {
    const auto status = look_at(base_, 0);
    if (!status) return true;
    const bool is_for_others = (status->st_mode & S_IWOTH) != 0 ||
                               !is_private_group(status->st_gid, owner_) || !list_of(base_).empty();
    return lets_in_.at(base_) && is_for_others && others_may_only_add(*status);
  }

  /// Returns the users who may replace the file at `path`, write to it, or put a file there.
  Users replacers_of(const std::string& path) {
    if (!path.starts_with('/') || !lies_in(path, base_)) return {"? " + path};
    std::string directory = parent_of(path);
    while (directory != base_ && !look_at(directory, 0)) {
      if (look_at(directory, AT_SYMLINK_NOFOLLOW)) return {"? " + path};  // a link to nothing
      directory = parent_of(directory);
    }
    Users users = users_of(directory);
    const auto here = look_at(path, AT_SYMLINK_NOFOLLOW);
    const bool is_link = here && S_ISLNK(here->st_mode);
    if (is_link) users.merge(users_behind(path));
    // Users may write to a file only if they may enter its directories.
    const auto file = look_at(path, 0);
    if (file && (is_link || lets_in(directory))) add_writers(path, *file, users);
    if (users.contains("all")) users = {"all"};
    // Of these users, only those who may enter the directories reach the file.
    if (const std::string& enters = who_enters(directory); !users.empty() && !enters.empty())
      users.insert("entered by " + enters);
    // A file's other names may lie in other directories.
    if (Users writers; file && file->st_nlink > 1) {
      add_writers(path, *file, writers);
      for (const std::string& user : writers) users.insert("by another name " + user);
    }
    return users;
  }

 private:
  [[nodiscard]] bool lets_nobody_in(const std::string& path, const struct stat& status) const {
    const mode_t group = is_private_group(status.st_gid, owner_) ? 0 : S_IXGRP;
    return (status.st_mode & (group | S_IXOTH)) == 0 && list_of(path).empty();
  }

  /// True if other users may enter the directory, and those above it.
  bool lets_in(const std::string& directory) {
    const auto [known, is_new] = lets_in_.try_emplace(directory, false);
    if (!is_new) return known->second;
    // What a link leads to can be reached by other ways, too.
    const auto itself = look_at(directory, AT_SYMLINK_NOFOLLOW);
    if (itself && S_ISLNK(itself->st_mode)) return lets_in_[directory] = true;
    const auto status = look_at(directory, 0);
    const bool answer =
        lets_in(parent_of(directory)) && !(status && lets_nobody_in(directory, *status));
    return lets_in_[directory] = answer;
  }

  /// Describes the directories below base, on the way to this one, that not everybody may enter.
  const std::string& who_enters(const std::string& directory) {
    const auto [known, is_new] = who_enters_.try_emplace(directory);
    if (!is_new || directory == base_ || directory == "/") return known->second;
    std::string text = who_enters(parent_of(directory));
    const auto status = look_at(directory, 0);
    const std::string list = list_of(directory);
    const mode_t bits = status ? status->st_mode & (S_IXGRP | S_IXOTH) : 0;
    if (!status || bits != (S_IXGRP | S_IXOTH) || !list.empty())
      text += (status ? std::to_string(status->st_gid) : "?") + ':' + std::to_string(bits) + ':' +
              list + '/';
    return who_enters_[directory] = std::move(text);
  }

  void add_writers(const std::string& path, const struct stat& status, Users& users) const {
    if (!is_believed(status.st_uid, owner_)) users.insert("u:" + std::to_string(status.st_uid));
    if (const std::string list = list_of(path); !list.empty()) {
      if (others_may_write(status))
        users.insert(std::to_string(status.st_gid) + ':' + std::to_string(status.st_mode & 077) +
                     ':' + list);
      return;
    }
    const bool is_private = is_private_group(status.st_gid, owner_);
    if ((status.st_mode & S_IWGRP) != 0 && !is_private)
      users.insert("g:" + std::to_string(status.st_gid));
    const bool is_group_left_out = (status.st_mode & S_IWGRP) == 0 && !is_private;
    if ((status.st_mode & S_IWOTH) != 0)
      users.insert(is_group_left_out ? "all but g:" + std::to_string(status.st_gid) : "all");
  }

  /// Returns the users who may put files into the directory, or replace the directory. A user may
  /// replace it through a directory above it (below base), or through a link on the way.
  const Users& users_of(const std::string& directory) {
    const auto [known, is_new] = users_.try_emplace(directory);
    if (!is_new || directory == base_ || directory == "/") return known->second;
    Users users;
    const std::string above = parent_of(directory);
    for (const std::string& user : users_of(above)) {
      // In a sticky directory others cannot replace what is there.
      if (!user.starts_with("adds ")) users.insert(user);
    }
    if (const auto link = look_at(directory, AT_SYMLINK_NOFOLLOW); link && S_ISLNK(link->st_mode))
      users.merge(users_behind(directory));
    const auto status = look_at(directory, 0);
    if (!status) {
      users.insert("? " + directory);
    } else if (!lets_in(directory)) {
      users.clear();
    } else {
      Users own;
      add_writers(directory, *status, own);
      for (const std::string& user : own)
        users.insert(others_may_only_add(*status) && !user.starts_with("u:") ? "adds " + user
                                                                             : user);
    }
    return users_[directory] = std::move(users);
  }

  /// Returns the users who may replace the link's target. If the target is a further link, nothing is
  /// known about it.
  Users users_behind(const std::string& link) {
    const std::string end = real_path(link);
    std::array<char, 4096> text{};
    const auto bytes = ::readlink(link.c_str(), text.data(), text.size());
    if (end.empty() || bytes <= 0) return {"? " + link};
    const std::string_view target(text.data(), static_cast<std::size_t>(bytes));
    const std::string there = target.starts_with('/')
                                  ? std::string(target)
                                  : real_path(parent_of(link)) + '/' + std::string(target);
    if (without_dots(there) != end) return {"? " + link};
    Users users;
    for (std::string at = parent_of(end); at != "/" && at != base_; at = parent_of(at)) {
      const auto status = look_at(at, 0);
      if (!status) return {"? " + at};
      if (lets_nobody_in(at, *status)) {
        users.clear();
      } else if (!others_may_only_add(*status)) {
        add_writers(at, *status, users);
      }
    }
    return users;
  }

  std::string base_;
  uid_t owner_;
  std::map<std::string, Users> users_;
  std::map<std::string, bool> lets_in_;
  std::map<std::string, std::string> who_enters_;
};

}  // namespace

bool strangers_may_add(const std::string& path, uid_t owner) {
  return !path.starts_with('/') || Places(parent_of(path), owner).strangers_may_add_to_base();
}

std::optional<UnequalPlaces> unequal_places(const std::vector<std::string>& paths,
                                            const std::string& base, uid_t owner) {
  if (!base.starts_with('/')) return UnequalPlaces{paths.front(), paths.back()};
  Places places(base, owner);
  std::optional<Users> first;
  for (const std::string& path : paths) {
    Users users = places.replacers_of(path);
    if (!first) {
      first = std::move(users);
    } else if (*first != users) {
      return UnequalPlaces{paths.front(), path};
    }
  }
  return std::nullopt;
}

}  // namespace mcr::restart
