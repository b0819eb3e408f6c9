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

using restart::ReplicaDirectory;
using Box = restart::ReplicaDirectory::Box;

namespace {

constexpr auto look_pause = std::chrono::milliseconds(5);
/// Storage may hang for the leader that has the turn.
constexpr std::uint64_t longest_wait_ms = 600'000;

}  // namespace

WritingTurn::~WritingTurn() {
  if (!place_) return;
  for (const Box box : {Box::made, Box::asked, Box::given}) {
    if (const auto removed = place_->remove(box, name_); !removed)
      restart::log_warning_once("turn", removed.error().message);
  }
}

void WritingTurn::wait() {
  if (std::exchange(is_over_, true) || !may_wait_ || settings_.count("writers") == 0) return;
  auto place = ReplicaDirectory::find(restart::parent_of(directory_.path()));
  if (place) place_ = std::move(*place);
  if (!place_ || !place_->gives_turns()) {
    restart::log_warning_once(
        "no turns",
        "leaders write at any time (writers=): no team gives turns on this node. `mcr run` in a "
        "batch script of several nodes starts one");
    return;
  }
  if (const auto asked = ask(); !asked) {
    restart::log_warning_once(
        "no turns", "this leader writes at any time (writers=): " + asked.error().message);
    return;
  }
  const std::uint64_t begin_ms = restart::monotonic_ms();
  look_for_turn();
  waited_ms_ = restart::monotonic_ms() - begin_ms;
  (void)may_wait_(false);
}

Result<void> WritingTurn::ask() {
  lock_ = MCR_TRY(place_->create(Box::made, name_));
  // The team takes a file that nobody locks for one of a dead leader, so it is locked before the team can see it.
  if (!MCR_TRY(restart::try_lock(lock_, restart::LockKind::exclusive)))
    return Error{Cause::system, "another process uses " + lock_.name()};
  return place_->move(name_, Box::made, Box::asked);
}

void WritingTurn::look_for_turn() const {
  const std::uint64_t end_ms = restart::monotonic_ms() + longest_wait_ms;
  while (!place_->has(Box::given, name_) && place_->gives_turns() && may_wait_(true)) {
    if (restart::monotonic_ms() >= end_ms) {
      restart::log_warning_once(
          "long turn",
          "another node's leader has written for ten minutes (writers=), so this leader writes at "
          "the same time; storage may hang there");
      return;
    }
    std::this_thread::sleep_for(look_pause);
  }
}

}  // namespace mcr::aggregation
