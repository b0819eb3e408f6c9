// SPDX-License-Identifier: BSD-3-Clause
// The parts that are committed together, and the result of the commit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aggregation/merge/sets.hpp"

namespace mcr::aggregation {

struct SetOfPart {
  SetName set;
  std::uint64_t begun_ns = 0;
};

class HeldSet;
class WritingTurn;

/// The parts that go into one container. Answer: DrainDone.
struct DrainGroup {
  std::uint64_t drain = 0;
  SetName set;
  std::uint32_t rank_count = 1;
  std::vector<PartId> parts;  ///< by rank
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> passed_ranks;
  std::vector<std::uint32_t> failed_ranks;
  bool drifted = false;
  std::optional<restart::FailedAttempts> failed_attempts;
  std::uint64_t begun_ns = 0;    ///< the set's first part was begun
  std::uint32_t supplement = 0;  ///< number of containers that this group already has
  bool keep = false;             ///< the parts stay in the stage after commit
  bool fast = false;
  bool is_brought_back = false;  ///< from a replica: it gets no replica of its own
  std::uint64_t bytes = 0;       ///< of all parts
  /// The set of each part, beginning with `set`; empty: all are of `set`.
  std::vector<SetOfPart> bundle;
  /// A newer writing of the same names is whole in the stage, and this one need not go to storage (flush=).
  bool is_superseded = false;
  std::vector<PartId> newer;     ///< the parts of the newer writing that are still in the stage
  std::vector<PartId> replaced;  ///< the parts whose stubs that writing found at its paths
  WritingTurn* turn_to_write = nullptr;  ///< null: the commit waits for no turn
  HeldSet* held = nullptr;  ///< the group as it was held back: it has a replica already
};

struct DrainDone {
  std::uint64_t drain = 0;
  std::vector<PartId> committed;  ///< a part in no list had left the stage before
  std::vector<PartId> failed;
  bool storage_failed = false;  ///< storage failed; the parts are intact
  /// In each attempt, the directories were removed or renamed.
  bool place_went_away = false;
  bool is_dropped =
      false;  ///< `committed` are in no container: a newer set has replaced them (flush=)
  std::vector<PartId> without_stub = {};  ///< in a container, but storage refused their stubs
  std::vector<PartId> removed =
      {};  ///< the program removed their files before the commit; they are in no container
};

}  // namespace mcr::aggregation
