// SPDX-License-Identifier: BSD-3-Clause
// Which files of a set later launches have written again (docs/design/sets.md, "Sets that are written again").
#pragma once

#include <map>
#include <set>
#include <string>

namespace mcr::aggregation {

class Amendments {
 public:
  /// Adds a part of the set: the path of its file, and SetIdentity::amended_by of its container.
  void add(const std::string& path, const std::string& amended_by) {
    files_.insert(path);
    if (!amended_by.empty()) by_launch_[amended_by].insert(path);
  }

  /// True if a launch wrote into some of the files only, or under other names. The set may then have files of different steps.
  [[nodiscard]] bool are_partial() const {
    for (const auto& [launch, written] : by_launch_)
      if (written != files_) return true;
    return false;
  }

  /// True if a launch wrote into files of the set, but not into this one.
  [[nodiscard]] bool lack(const std::string& path) const {
    for (const auto& [launch, written] : by_launch_)
      if (!written.contains(path)) return true;
    return false;
  }

 private:
  std::set<std::string> files_;
  std::map<std::string, std::set<std::string>> by_launch_;
};

}  // namespace mcr::aggregation
