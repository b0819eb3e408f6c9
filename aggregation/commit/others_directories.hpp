// SPDX-License-Identifier: BSD-3-Clause
// Directories that other users control. Another user may have a hard link to a file of this user's, or may have moved
// the file into a directory of his own. The container, which holds the other ranks' data too, must not follow that file there.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "restart/base/file_identity.hpp"

namespace mcr::aggregation {

class OthersDirectories {
 public:
  /// `base`: the base directory that follows from the parts' names; `is_base_there`: it still is what it was when the
  /// parts were begun, at `begun_ns`.
  OthersDirectories(std::string base, bool is_base_there, std::uint64_t begun_ns);

  /// True if other users own `directory` or one above it, or may rename names there although they may not in the base. The base
  /// and what lies above it do not count: there they could do the same to all files of the set.
  bool control(const std::string& directory);

 private:
  [[nodiscard]] bool others_may_rename_in(const struct stat& directory) const;
  /// The base, if it is there, and the directories above it.
  const std::set<restart::FileIdentity>& above_base();

  std::string base_;
  bool is_base_there_;
  std::uint64_t begun_ns_;
  std::optional<std::set<restart::FileIdentity>> above_base_;
  mode_t base_mode_ = 0;  ///< 0: the base is gone
  gid_t base_group_ = 0;
  std::map<std::string, bool> known_;
};

}  // namespace mcr::aggregation
