// SPDX-License-Identifier: BSD-3-Clause
// Turns to write (writers=COUNT): at most COUNT leaders of a job write containers to storage at once. Process 0 of the team gives
// the turns, in the order in which they were asked for. On each node, the node's process asks for its leaders
// (restart/stage/team_directory.hpp).
//
//   want    a leader waits                                   to process 0
//   done    a turn is over, or nobody on the node wants it   to process 0
//   turn    nothing                                          from process 0
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/stage/team_directory.hpp"

namespace mcr::aggregation {

/// Sends messages of one byte, without waiting for their receivers.
class MessageSender {
 public:
  explicit MessageSender(MPI_Comm team) : team_(team) {}
  /// Waits for the messages that were sent.
  ~MessageSender();
  MessageSender(const MessageSender&) = delete;
  MessageSender& operator=(const MessageSender&) = delete;

  void send(int to, int tag, std::uint8_t word);

 private:
  MPI_Comm team_;
  std::vector<MPI_Request> requests_;
};

/// Receives messages of one byte, one after another.
class MessageReceiver {
 public:
  MessageReceiver(MPI_Comm team, int from, int tag);
  /// Gives up the message that has not come.
  ~MessageReceiver();
  MessageReceiver(const MessageReceiver&) = delete;
  MessageReceiver& operator=(const MessageReceiver&) = delete;

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

/// Process 0. A turn that lasts longer than `longest` counts as back, because storage may hang for its leader.
class TurnGiver {
 public:
  using Clock = std::chrono::steady_clock;
  TurnGiver(MPI_Comm team, std::size_t turns, Clock::duration longest = std::chrono::minutes(10));
  /// Goes on as far as it can without waiting. Returns true if anything has happened.
  bool go_on();
  /// True if all turns are back, and nobody waits for one.
  [[nodiscard]] bool is_done() const { return waiting_.empty() && out_.empty(); }

 private:
  struct Turn {
    int process = 0;
    Clock::time_point begin;
  };
  void take_back(int process);
  bool drop_overdue();

  std::size_t turns_;
  Clock::duration longest_;
  std::deque<int> waiting_;
  std::vector<Turn> out_;       ///< oldest first
  std::map<int, int> overdue_;  ///< by process: turns that counted as back before they were
  MessageSender answers_;
  MessageReceiver request_;
};

/// Asks for this node's leaders.
class TurnTaker {
 public:
  /// Asks for nothing if `place` is null, or if another process gives turns on this node.
  TurnTaker(const restart::TeamDirectory* place, MPI_Comm team, int giver);
  /// Goes on as far as it can without waiting. Returns true if anything has happened.
  bool go_on();
  /// Gives no more turns: leaders that wait then write without one. Returns true when no turn is on its way; until then call
  /// it again.
  bool finish();

 private:
  void take_turn();
  bool ask();
  bool give_back();

  const restart::TeamDirectory* place_;
  int giver_;
  std::optional<restart::File> lock_;
  std::vector<std::string> asked_;  ///< names for which a turn was asked for, in that order
  std::set<std::string> given_;     ///< names that have a turn
  std::size_t on_the_way_ = 0;      ///< turns that were asked for and have not come
  MessageSender words_;
  MessageReceiver turn_;
};

}  // namespace mcr::aggregation
