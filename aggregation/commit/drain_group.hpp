// SPDX-License-Identifier: BSD-3-Clause
// The parts that are committed together, and the result of the commit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "aggregation/merge/sets.hpp"

namespace mcr::aggregation {

struct SetOfPart {
  SetName set;
  std::uint64_t begun_ns = 0;
};

/// Called again and again while a commit waits for its turn (`waits`), and once after that. Returns false if the commit must go
/// on now.
using MayWait = std::function<bool(bool waits)>;

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
  MayWait may_wait = {};  ///< null: the commit waits for no turn to write
};

struct DrainDone {
  std::uint64_t drain = 0;
  std::vector<PartId> committed;  ///< a part in no list had left the stage before
  std::vector<PartId> failed;
  bool storage_failed = false;  ///< storage failed; the parts are intact
  /// In each attempt, the directories were removed or renamed.
  bool place_went_away = false;
  std::vector<PartId> without_stub = {};  ///< in a container, but storage refused their stubs
  std::uint64_t waited_ms = 0;            ///< for a turn to write
};

}  // namespace mcr::aggregation
