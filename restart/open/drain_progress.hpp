// SPDX-License-Identifier: BSD-3-Clause
// Whether leaders get on with what an opener waits for. Draining takes as long as its bytes need,
// which nobody knows beforehand: what is bounded is the time in which nothing at all happens.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

namespace mcr::restart {

class DrainProgress {
 public:
  /// `still_ms`: nothing is to be expected any more when nothing has happened for so long. Other
  /// jobs that commit to the same place look like progress: it ends after ten times as long.
  explicit DrainProgress(std::uint64_t still_ms);

  /// `launches`: directories in this node's stage; `containers`: where theirs go. Both may be gone.
  bool has_stopped(const std::set<std::string>& launches, const std::string& containers);

 private:
  /// Parts in the stage, names beside the containers, and what those that are being written occupy.
  using State = std::tuple<std::size_t, std::size_t, std::uint64_t>;
  static State look(const std::set<std::string>& launches, const std::string& containers);

  std::uint64_t still_ms_;
  std::uint64_t begin_ms_;
  std::uint64_t moved_ms_;
  std::uint64_t looked_ms_ = 0;
  State last_;
};

}  // namespace mcr::restart
