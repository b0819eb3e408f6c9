// SPDX-License-Identifier: BSD-3-Clause
// Which files of a set later launches have written again (docs/design/sets.md, "Sets that are written again").
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace mcr::aggregation {

class Amendments {
 public:
  /// Adds a part or a native member of the set: rank and path of its file, and SetIdentity::amended_by of its container.
  void add(const std::string& masked_name, std::uint32_t rank, const std::string& path,
           const std::string& amended_by);

  /// Adds those of another container of the set.
  void add(const Amendments& more);

  /// True if a launch wrote into some of the files only. The set may then have files of different steps.
  [[nodiscard]] bool are_partial() const;

  /// True if a launch wrote into other files of the set, but not into this one.
  [[nodiscard]] bool have_left_out(const std::string& masked_name, std::uint32_t rank,
                                   const std::string& path) const;

 private:
  /// Rank, or number at {part}. If the masked name does not tell a number, the path.
  using File = std::pair<std::uint64_t, std::string>;
  using Files = std::set<File>;

  static File file_of(const std::string& masked_name, std::uint32_t rank, const std::string& path);
  [[nodiscard]] bool is_partial(const Files& written) const;

  bool is_by_rank_ = false;
  Files all_;
  Files own_;  ///< in containers of the set's own launch, or of a single process
  std::map<std::string, Files> by_launch_;  ///< by launches after the set's own
};

}  // namespace mcr::aggregation
