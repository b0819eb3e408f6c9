// SPDX-License-Identifier: BSD-3-Clause
// Which files of a set later launches have written again (docs/design/sets.md, "Sets that are written again").
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "restart/format/mask_words.hpp"

namespace mcr::aggregation {

/// True if each rank has one file of the set, whatever its name is by now.
inline bool has_file_of_each_rank(const std::string& masked_name) {
  return masked_name.find(restart::rank_word) != std::string::npos;
}

class Amendments {
 public:
  /// Adds a part of the set: rank and path of its file, and SetIdentity::amended_by of its container.
  void add(const std::string& masked_name, std::uint32_t rank, const std::string& path,
           const std::string& amended_by) {
    is_by_rank_ = has_file_of_each_rank(masked_name);
    const std::string file = is_by_rank_ ? std::to_string(rank) : path;
    (amended_by.empty() ? first_ : by_launch_[amended_by]).insert(file);
  }

  /// True if a launch wrote into some of the files only. The set may then have files of different steps.
  [[nodiscard]] bool are_partial() const {
    for (const auto& [launch, written] : by_launch_)
      if (is_partial(written)) return true;
    return false;
  }

  /// True if a launch wrote into other files of the set, but not into this one.
  [[nodiscard]] bool lack(std::uint32_t rank, const std::string& path) const {
    const std::string file = is_by_rank_ ? std::to_string(rank) : path;
    for (const auto& [launch, written] : by_launch_)
      if (is_partial(written) && !written.contains(file)) return true;
    return false;
  }

 private:
  using Files = std::set<std::string>;  ///< ranks if each has one file, else paths

  /// A file with {part} in its name may have been renamed since, so only the number of these files counts.
  [[nodiscard]] bool is_partial(const Files& written) const {
    return is_by_rank_ ? written != first_ : written.size() != first_.size();
  }

  bool is_by_rank_ = false;
  Files first_;  ///< written by the set's own launch
  std::map<std::string, Files> by_launch_;
};

}  // namespace mcr::aggregation
