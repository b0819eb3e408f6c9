// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/writing_turn.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "restart/base/lock.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {

using restart::TeamDirectory;
using Box = restart::TeamDirectory::Box;

namespace {

constexpr auto look_pause = std::chrono::milliseconds(5);
/// The team passes on each turn after ten minutes at the latest; but its process may hang.
constexpr std::uint64_t longest_wait_ms = 3'600'000;

}  // namespace

void WritingTurn::end() {
  if (!place_) return;
  for (const Box box : {Box::made, Box::asked, Box::given}) {
    if (const auto removed = place_->remove(box, name_); !removed)
      restart::log_warning_once("turn", removed.error().message);
  }
  place_.reset();
  lock_ = restart::File();
}

void WritingTurn::wait() {
  if (std::exchange(has_waited_, true) || settings_.count("writers") == 0 || !may_wait_(true))
    return;
  auto place = TeamDirectory::find(restart::parent_of(directory_.path()));
  if (place) place_ = std::move(*place);
  if (!place_ || !place_->gives_turns()) {
    restart::log_warning_once(
        "no turns",
        "leaders write at any time (writers=): no team gives turns on this node. `mcr run` in a "
        "batch script of several nodes starts a team");
    return;
  }
  const std::uint64_t begin_ms = restart::monotonic_ms();
  look_for_turn();
  waited_ms_ = restart::monotonic_ms() - begin_ms;
  (void)may_wait_(false);
}

Result<void> WritingTurn::ask() {
  MCR_TRY(place_->remove(Box::given, name_));  // of an earlier leader of this launch
  lock_ = MCR_TRY(place_->create(Box::made, name_));
  // The team takes a file that nobody locks for one of a dead leader, so it is locked before the team can see it.
  if (!MCR_TRY(restart::try_lock(lock_, restart::LockKind::exclusive)))
    return Error{Cause::system, "another process uses " + lock_.name()};
  return place_->move(name_, Box::made, Box::asked);
}

void WritingTurn::look_for_turn() {
  const std::uint64_t end_ms = restart::monotonic_ms() + longest_wait_ms;
  while (!place_->has(Box::given, name_) && place_->gives_turns() && may_wait_(true)) {
    if (restart::monotonic_ms() >= end_ms) {
      restart::log_warning_once("long wait",
                                "this leader has waited for an hour for its turn to write "
                                "(writers=), and writes now");
      return;
    }
    // At first; and if the team took the file for a dead leader's and removed it.
    const bool is_known = place_->has(Box::asked, name_) || place_->has(Box::given, name_);
    if (const auto asked = is_known ? Result<void>() : ask(); !asked) {
      restart::log_warning_once(
          "no turns", "this leader writes at any time (writers=): " + asked.error().message);
      return;
    }
    std::this_thread::sleep_for(look_pause);
  }
}

}  // namespace mcr::aggregation
