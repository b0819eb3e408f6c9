// SPDX-License-Identifier: BSD-3-Clause
// A leader's turn to write a container to storage (writers=COUNT), which the team gives (aggregation/team/turns.hpp). A leader that
// must not, or cannot, wait for its turn writes without one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "restart/base/file.hpp"
#include "restart/settings/settings.hpp"
#include "restart/stage/stage.hpp"
#include "restart/stage/team_directory.hpp"

namespace mcr::aggregation {

class WritingTurn {
 public:
  /// Called with true before and repeatedly during the wait, and with false when the wait is over. Returns false if the leader must
  /// write now.
  using MayWait = std::function<bool(bool waits)>;

  WritingTurn(const restart::LaunchDirectory& directory, const restart::Settings& settings,
              MayWait may_wait)
      : directory_(directory),
        settings_(settings),
        may_wait_(std::move(may_wait)),
        name_(restart::TeamDirectory::name_of_launch(directory.path(), "turn")) {}
  ~WritingTurn() { end(); }
  WritingTurn(const WritingTurn&) = delete;
  WritingTurn& operator=(const WritingTurn&) = delete;

  /// Waits until this leader may write, at most an hour. Does nothing if it was called before, or if no turns are given on this
  /// node; the latter is said once.
  void wait();
  /// Gives the turn back.
  void end();
  [[nodiscard]] std::uint64_t waited_ms() const { return waited_ms_; }

 private:
  [[nodiscard]] Result<void> ask();
  void look_for_turn();

  const restart::LaunchDirectory& directory_;
  const restart::Settings& settings_;
  MayWait may_wait_;
  bool has_waited_ = false;
  std::string name_;  ///< of this leader's file; it has one commit at a time
  std::optional<restart::TeamDirectory> place_;
  restart::File lock_;  ///< tells the team that this leader lives
  std::uint64_t waited_ms_ = 0;
};

}  // namespace mcr::aggregation
