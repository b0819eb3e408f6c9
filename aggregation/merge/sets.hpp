// SPDX-License-Identifier: BSD-3-Clause
// Assigns parts to sets. A set is named by launch, masked name and sequence. Pure functions: no
// clock, no file.
//
// A set's life (docs/design/sets.md), with the function of leader/decisions that makes each transition:
//
// clang-format off
//          part published           all here, or quiet, or          DrainDone: all        newer set kept,
//          (place_in_set)           nobody left (ripe)              committed             or regular end (release_kept)
//   (none) --------------> growing ----------------------> draining --------------> drained --------------> freed
//                             ^                               |                        |
//                             |       DrainDone: failed       |                        |
//                             +-------------------------------+                        |
//                             |       a late part: into a supplement                   |
//                             +--------------------------------------------------------+
// clang-format on
//
// A drained set is not necessarily whole, because a set is also drained after a quiet period.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "restart/base/part_id.hpp"
#include "restart/sets/generations.hpp"

namespace mcr::aggregation {

using restart::Account;
using restart::PartId;
using restart::Wholeness;
using restart::wholeness;

/// One possible masked name of a part, and the same name with its other numbers masked too.
struct CandidateName {
  std::string masked_name;
  std::string pattern;
};

/// The facts of a part's begin record that the leader's decisions need. They never change.
struct PartFacts {
  PartId part;
  std::string launch;
  std::uint64_t sequence = 0;
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
  std::uint32_t local_rank_count = 0;  ///< 0: unknown
  /// Number of ranks that may write into this set; 1 if the name has no rank.
  std::uint32_t writers = 1;
  bool may_be_lone = false;  ///< the rank's digits in the path are a guess, so the part may be lone
  /// The name of a set with this file alone, if `files=` captures the file whichever rank writes
  /// it. Empty: if there are no files of other ranks beside it, the file becomes a native one.
  std::string lone_name;
  std::string family;        ///< the path with all its numbers masked
  bool is_unranked = false;  ///< the file is captured, but no number in its path is the rank
  std::string path;
  std::vector<CandidateName> names;  ///< at least one; most likely first
  std::string presence;              ///< of the process that writes it
  std::uint64_t begin_ns = 0;
  std::optional<std::uint64_t> failed_attempts;  ///< as PartBegin::failed_attempts
  bool is_by_untrusted_links = false;            ///< as PartBegin::is_by_untrusted_links
  std::uint64_t set_wait_ms = 10'000;
  std::uint32_t group_size = 0;  ///< 0: all ranks of the node
  std::uint32_t keep = 0;        ///< number of newest sets that stay in the stage
  /// Each `flush`-th writing of the same names goes to storage; 1: all do.
  std::uint32_t flush = 1;
  bool is_replicated = false;  ///< replicas=1
  /// With flush=: its close waits until another node or storage has the part (close=replicated).
  bool waits_for_replica = false;
  std::optional<PartId> replaced;  ///< the part whose stub lay at the path
  /// True if the part amends another launch's set. This launch's ranks then do not tell which ranks
  /// wrote that set.
  bool is_amendment = false;
  /// Sets of one rank whose parts have the same bundle family and block may go into one container.
  /// Empty: the set gets a container of its own.
  std::string bundle_family;
  std::string block;
};

struct SetName {
  std::string launch;
  std::string masked_name;
  std::uint64_t sequence = 0;

  auto operator<=>(const SetName&) const = default;
};

/// Returns the index of the part's name in `names`, judging by the other parts. `supports[i]` ranks
/// certainly use names[i], and `maybe[i]` ranks have it among their possible names. Returns -1 if
/// there is no evidence yet. A single name needs no evidence.
int choose_name(const std::vector<CandidateName>& names, const std::vector<std::uint32_t>& supports,
                const std::vector<std::uint32_t>& maybe);

/// Returns the number of the rank's group: groups are runs of `group_size` consecutive ranks.
std::uint32_t group_of(std::uint32_t rank, std::uint32_t group_size);

}  // namespace mcr::aggregation
