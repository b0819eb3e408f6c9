// SPDX-License-Identifier: BSD-3-Clause
// Tells whether leaders make progress with the parts that an opener waits for. How long a drain
// takes is not known beforehand, so the wait is bounded by the time without progress.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

namespace mcr::restart {

class DrainProgress {
 public:
  /// The wait ends after `still_ms` without any progress. Commits of other jobs to the same place
  /// look like progress, so the whole wait also ends after ten times `still_ms`.
  explicit DrainProgress(std::uint64_t still_ms);

  /// Returns true if the wait must end. `launches`: directories in this node's stage. `containers`:
  /// the directory of their containers. Any of these directories may be gone.
  bool has_stopped(const std::set<std::string>& launches, const std::string& containers);

 private:
  /// The numbers of parts in the stage, of names beside the containers, and of blocks of the
  /// containers that are being written.
  using State = std::tuple<std::size_t, std::size_t, std::uint64_t>;
  static State look(const std::set<std::string>& launches, const std::string& containers);

  std::uint64_t still_ms_;
  std::uint64_t begin_ms_;
  std::uint64_t moved_ms_;
  std::uint64_t looked_ms_ = 0;
  State last_;
};

}  // namespace mcr::restart
