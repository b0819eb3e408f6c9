// SPDX-License-Identifier: BSD-3-Clause
// The team: one MPI program with a process on each node of a job. Each process sends the replicas of its node's
// leaders to the node's buddy, and holds those of another node (restart/stage/team_directory.hpp). Leaders do
// not depend on it: if it dies, sets go to storage without replicas.
//
//   begin   size and name of a replica            to the buddy
//   piece   the replica's bytes, in order         to the buddy
//   answer  whether the buddy holds it now        from the buddy, after the last piece
//   drop    name of a replica that is in storage  to the buddy
//   end     nothing: no further message comes     to the buddy
//
// The processes form a ring, in which those below one switch of the network stand together (ring.hpp). The buddy of a process is half a
// ring away, because neighbours often share a switch or a power supply.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "restart/base/file.hpp"
#include "restart/stage/team_directory.hpp"

namespace mcr::aggregation {

/// A replica on its way.
struct Transfer {
  std::string name;
  restart::File file;
  std::uint64_t size = 0;
  std::uint64_t done = 0;      ///< bytes that were sent or received
  std::optional<Error> error;  ///< the first; the other process still sends or gets all pieces
};

/// Sends this node's replicas, one at a time.
class Sender {
 public:
  /// Sends none if `place` is null.
  Sender(const restart::TeamDirectory* place, MPI_Comm team, int buddy);
  /// Goes on as far as it can without waiting. Returns true if anything has happened.
  bool go_on();
  /// True while a replica is on its way: MPI then makes progress only in its calls.
  [[nodiscard]] bool is_at_work() const {
    return sending_.has_value() || request_ != MPI_REQUEST_NULL;
  }
  /// Sends what is left, then the end. Returns true when the end is sent; until then call it again.
  bool finish();

 private:
  bool begin();
  void send_piece();
  void take_answer();
  bool drop_withdrawn();
  void send(int tag, Bytes message);
  /// Returns a replica in out/.
  [[nodiscard]] std::optional<std::string> next();

  const restart::TeamDirectory* place_;
  MPI_Comm team_;
  int buddy_;
  bool has_ended_ = false;
  std::optional<Transfer> sending_;
  std::set<std::string> held_;  ///< by the buddy
  Bytes message_;               ///< in flight
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Request answer_request_ = MPI_REQUEST_NULL;
  std::uint8_t answer_ = 0;
};

/// Receives and holds the replicas of one other node.
class Receiver {
 public:
  /// Refuses all replicas if `place` is null.
  Receiver(const restart::TeamDirectory* place, MPI_Comm team, int from);
  /// Takes a message if there is one; returns whether there was.
  bool go_on();
  [[nodiscard]] bool is_at_work() const { return receiving_.has_value(); }
  [[nodiscard]] bool has_ended() const { return has_ended_; }

 private:
  void ask();
  void take_words(ByteSpan message);
  void begin(std::uint64_t size, const std::string& name);
  void take_piece(ByteSpan message);
  void end();

  const restart::TeamDirectory* place_;
  MPI_Comm team_;
  int from_;
  bool has_ended_ = false;  ///< the other process has sent its end
  std::optional<Transfer> receiving_;
  Bytes message_;
  MPI_Request request_ = MPI_REQUEST_NULL;  ///< of the next words, or of the next piece
};

struct TeamOptions {
  std::string stage;
  std::string switches = {};  ///< above this node (restart::scheduler_switches()); empty: not known
  std::size_t writers = 0;    ///< how many leaders write at a time (turns.hpp); 0: any number
};
/// Serves this node until `has_ended` returns true, here and in the other processes.
void serve_team(const TeamOptions& options, MPI_Comm team, const std::function<bool()>& has_ended);

}  // namespace mcr::aggregation
