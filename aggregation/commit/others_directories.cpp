// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/others_directories.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "restart/base/birth_time.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::aggregation {
namespace {

bool look_at(const std::string& directory, struct stat& status) {
  return restart::system_calls().fstatat(AT_FDCWD, directory.c_str(), &status,
                                         AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

}  // namespace

OthersDirectories::OthersDirectories(std::string base, bool is_base_there, std::uint64_t begun_ns)
    : base_(std::move(base)), is_base_there_(is_base_there), begun_ns_(begun_ns) {
  struct stat status {};
  if (!is_base_there_ || !look_at(base_, status)) return;
  constexpr mode_t writes = S_IWGRP | S_IWOTH;
  // In a sticky base, others may rename none of this user's files.
  base_mode_ = restart::others_may_only_add(status) ? status.st_mode & ~writes : status.st_mode;
  base_group_ = status.st_gid;
}

const std::set<restart::FileIdentity>& OthersDirectories::above_base() {
  if (above_base_) return *above_base_;
  above_base_.emplace();
  struct stat status {};
  if (is_base_there_ && look_at(base_, status)) above_base_->insert(restart::FileIdentity(status));
  for (std::string above = base_; above != "/";) {
    above = restart::parent_of(above);
    if (!restart::is_gone_or_made_after(above, begun_ns_) && look_at(above, status))
      above_base_->insert(restart::FileIdentity(status));
  }
  return *above_base_;
}

bool OthersDirectories::others_may_rename_in(const struct stat& directory) const {
  if (!restart::is_believed(directory.st_uid, ::geteuid())) return true;
  if (restart::others_may_only_add(directory)) return false;
  if ((base_mode_ & S_IWOTH) != 0) return false;
  const mode_t more = directory.st_mode & ~base_mode_;
  if ((more & S_IWOTH) != 0) return true;
  // Many systems give each user a group of his own, in which nobody else is.
  if ((directory.st_mode & S_IWGRP) == 0 || directory.st_gid == ::getegid()) return false;
  return (more & S_IWGRP) != 0 || directory.st_gid != base_group_;
}

bool OthersDirectories::control(const std::string& directory) {
  if (is_base_there_ && directory == base_) return false;
  const auto [entry, is_new] = known_.try_emplace(directory, false);
  bool& is_others = entry->second;
  struct stat status {};
  // A directory that cannot be looked at is refused when it is opened.
  if (!is_new || !look_at(directory, status)) return is_others;
  if (others_may_rename_in(status)) {
    is_others = !above_base().contains(restart::FileIdentity(status));
  } else {
    is_others = directory != "/" && control(restart::parent_of(directory));
  }
  return is_others;
}

}  // namespace mcr::aggregation
