// SPDX-License-Identifier: BSD-3-Clause
// A leader's turn to write a container to storage (writers=COUNT), which the team gives (aggregation/team/turns.hpp). No set
// is lost for a turn: a leader that need not, or cannot, wait any longer writes without one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aggregation/commit/drain_group.hpp"
#include "restart/base/file.hpp"
#include "restart/settings/settings.hpp"
#include "restart/stage/replica_directory.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

class WritingTurn {
 public:
  /// `may_wait` may be null: the commit then waits for no turn.
  WritingTurn(const restart::LaunchDirectory& directory, const restart::Settings& settings,
              const MayWait& may_wait)
      : directory_(directory),
        settings_(settings),
        may_wait_(may_wait),
        name_(restart::ReplicaDirectory::replica_name(directory.path(), "turn")) {}
  /// Gives the turn back.
  ~WritingTurn();
  WritingTurn(const WritingTurn&) = delete;
  WritingTurn& operator=(const WritingTurn&) = delete;

  /// Waits until this leader may write, at most ten minutes. Does nothing if it was called before, or if no turns are given on this
  /// node; the latter is said once.
  void wait();
  [[nodiscard]] std::uint64_t waited_ms() const { return waited_ms_; }

 private:
  [[nodiscard]] Result<void> ask();
  void look_for_turn() const;

  const restart::LaunchDirectory& directory_;
  const restart::Settings& settings_;
  const MayWait& may_wait_;
  bool is_over_ = false;  ///< wait() was called
  std::string name_;      ///< of this leader's file; it has one commit at a time
  std::optional<restart::ReplicaDirectory> place_;
  restart::File lock_;  ///< tells the team that this leader lives
  std::uint64_t waited_ms_ = 0;
};

}  // namespace mcr::aggregation
