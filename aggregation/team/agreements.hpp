// SPDX-License-Identifier: BSD-3-Clause
// Agreements about sets that are held back from storage (flush= on several nodes). A node may drop its part of a set only when a newer
// set of the same names is safe on all nodes: in storage, or in the memory of two nodes. On each node, the node's process tells
// process 0 what its leaders say (restart/stage/team_directory.hpp). Process 0 adds up the parts of the set, and tells those who asked
// when all parts are safe.
//
//   safe     the set, the leader, its number of parts, the set's number of parts    to process 0
//   agreed   the set                                                                from process 0
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "restart/stage/team_directory.hpp"

namespace mcr::aggregation {

/// What a leader says of a set, as it stands in the name of the leader's file in safe/.
struct SafeParts {
  std::uint64_t set = 0;     ///< a hash of its name
  std::uint64_t leader = 0;  ///< a hash of its launch's directory
  std::uint64_t parts = 0;   ///< that are safe on this node; 0 takes back what was said
  std::uint64_t all = 0;     ///< of the whole set
};
/// Returns nothing if no leader has given the file this name.
std::optional<SafeParts> read_safe_name(const std::string& name);

using SafeWords = std::array<std::uint64_t, 4>;

/// Sends and receives messages of four numbers, without waiting for the other process.
class SafeMessages {
 public:
  /// Receives from any process of the team.
  SafeMessages(MPI_Comm team, int tag);
  /// Waits for what was sent, and gives up the message that has not come.
  ~SafeMessages();
  SafeMessages(const SafeMessages&) = delete;
  SafeMessages& operator=(const SafeMessages&) = delete;

  void send(int to, int tag, const SafeWords& words);
  struct Received {
    int from = 0;
    SafeWords words{};
  };
  std::optional<Received> take();

 private:
  struct Sent {
    SafeWords words{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void ask();

  MPI_Comm team_;
  int tag_;
  std::list<Sent> sent_;  ///< words stay in their place until they are sent
  SafeWords words_{};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Process 0.
class AgreementGiver {
 public:
  explicit AgreementGiver(MPI_Comm team);
  /// Goes on as far as it can without waiting. Returns true if anything has happened. If not `answers`, the others have ended.
  bool go_on(bool answers = true);

 private:
  struct Said {
    std::uint64_t order = 0;
    std::uint64_t all = 0;
    std::map<std::pair<int, std::uint64_t>, std::uint64_t> parts;  ///< by process and leader
  };
  void forget_oldest();

  std::uint64_t last_order_ = 0;
  std::map<std::uint64_t, Said> sets_;
  SafeMessages messages_;
};

/// Asks for this node's leaders.
class AgreementTaker {
 public:
  /// Asks for nothing if `place` is null.
  AgreementTaker(const restart::TeamDirectory* place, MPI_Comm team, int giver);
  /// Goes on as far as it can without waiting. Returns true if anything has happened. If not `asks`, no more is asked.
  bool go_on(bool asks = true);

 private:
  const restart::TeamDirectory* place_;
  int giver_;
  std::map<std::string, SafeParts> asked_;  ///< by name in safe/
  SafeMessages messages_;
};

}  // namespace mcr::aggregation
