// SPDX-License-Identifier: BSD-3-Clause
// Tells whether leaders make progress with the parts that an opener waits for. How long a drain
// takes is not known beforehand, so the wait is bounded by the time without progress.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace mcr::restart {

class DrainProgress {
 public:
  /// The wait ends after `still_ms` without any progress. Commits of other jobs to the same place
  /// look like progress, so the whole wait also ends after ten times `still_ms`. If this process has waited
  /// in vain for the same launches, and nothing has changed since, the wait is short.
  explicit DrainProgress(std::uint64_t still_ms);

  static constexpr std::uint64_t longest = 10;  ///< the whole wait, in units of `still_ms`

  /// Returns true if the wait must end. `launches`: directories in this node's stage. `containers`:
  /// the directory of their containers. Any of these directories may be gone. Only files of `owner`,
  /// of this user and of root show progress.
  bool has_stopped(const std::set<std::string>& launches, const std::string& containers,
                   uid_t owner);

 private:
  /// The numbers of parts in the stage, of new containers, and of blocks of the containers that are
  /// being written.
  using State = std::tuple<std::size_t, std::size_t, std::uint64_t>;
  State look(const std::set<std::string>& launches, const std::string& containers, uid_t owner);

  std::uint64_t still_ms_;
  std::uint64_t begin_ms_;
  std::uint64_t moved_ms_;
  std::uint64_t looked_ms_ = 0;
  State last_;
  bool is_known_ = false;  ///< an earlier wait of this process ended in this state
  /// The containers of the last look. Only the containers that are new since then are examined,
  /// because there may be 100,000.
  std::optional<std::vector<std::string>> known_;
  std::size_t new_containers_ = 0;
};

}  // namespace mcr::restart
