// SPDX-License-Identifier: BSD-3-Clause
// Turns to write (writers=COUNT): so many leaders of a job write containers to storage at a time. Process 0 of the team gives
// the turns, in the order in which they were asked for. On each node, the node's process asks for its leaders
// (restart/stage/replica_directory.hpp).
//
//   want    a leader waits                                   to process 0
//   done    a turn is over, or nobody on the node wants it   to process 0
//   turn    nothing                                          from process 0
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/stage/replica_directory.hpp"

namespace mcr::aggregation {

/// Messages of one byte on their way.
class ShortMessages {
 public:
  explicit ShortMessages(MPI_Comm team) : team_(team) {}
  /// Waits for the messages that were sent.
  ~ShortMessages();
  ShortMessages(const ShortMessages&) = delete;
  ShortMessages& operator=(const ShortMessages&) = delete;

  void send(int to, int tag, std::uint8_t word);

 private:
  MPI_Comm team_;
  std::vector<MPI_Request> requests_;
};

/// Takes messages of one byte, one after another.
class ShortMessage {
 public:
  ShortMessage(MPI_Comm team, int from, int tag);
  /// Gives up the message that has not come.
  ~ShortMessage();
  ShortMessage(const ShortMessage&) = delete;
  ShortMessage& operator=(const ShortMessage&) = delete;

  struct Word {
    int from = 0;
    std::uint8_t word = 0;
  };
  std::optional<Word> take();

 private:
  void ask();

  MPI_Comm team_;
  int from_;
  int tag_;
  std::uint8_t word_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Process 0.
class TurnGiver {
 public:
  TurnGiver(MPI_Comm team, std::size_t turns);
  /// Goes on as far as it can without waiting. Returns true if anything has happened.
  bool go_on();
  /// True if all turns are back, and nobody waits for one.
  [[nodiscard]] bool is_done() const { return waiting_.empty() && free_ == turns_; }

 private:
  std::size_t turns_;
  std::size_t free_;
  std::deque<int> waiting_;
  ShortMessages answers_;
  ShortMessage request_;
};

/// Asks for this node's leaders.
class TurnTaker {
 public:
  /// Asks for nothing if `place` is null, or if another process gives turns on this node.
  TurnTaker(const restart::ReplicaDirectory* place, MPI_Comm team, int giver);
  /// Goes on as far as it can without waiting. Returns true if anything has happened.
  bool go_on();
  /// Gives no more turns: leaders that wait then write without one. Returns true when no turn is on its way; until then call
  /// it again.
  bool finish();

 private:
  void take_turn();
  bool ask();
  bool give_back();

  const restart::ReplicaDirectory* place_;
  int giver_;
  std::optional<restart::File> lock_;
  std::set<std::string> asked_;  ///< names for which a turn was asked for
  std::set<std::string> given_;  ///< names that have a turn
  std::size_t on_the_way_ = 0;   ///< turns that were asked for and have not come
  ShortMessages words_;
  ShortMessage turn_;
};

}  // namespace mcr::aggregation
