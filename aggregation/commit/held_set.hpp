// SPDX-License-Identifier: BSD-3-Clause
// A set of several nodes that is held back from storage (flush=). This node's container of it exists in memory only, here and at the
// buddy. The parts stay in the stage, so that everything which finds parts there finds these, too.
#pragma once

#include <utility>
#include <vector>

#include "aggregation/commit/locked_parts.hpp"
#include "aggregation/commit/outgoing_replica.hpp"

namespace mcr::aggregation {

/// The buddy drops its replica with this object: when the set is dropped or in storage.
class HeldSet {
 public:
  HeldSet(OutgoingReplica replica, std::vector<LockedPart> parts)
      : replica_(std::move(replica)), parts_(std::move(parts)) {}

  [[nodiscard]] OutgoingReplica::At where() const { return replica_.where(); }
  /// The buddy keeps the replica, also when this object ends.
  void leave() { replica_.leave(); }
  /// Called when others hold the locks. Until then no writer can take a part back, so that the replica has what was closed last.
  void unlock() { parts_.clear(); }

 private:
  OutgoingReplica replica_;
  std::vector<LockedPart> parts_;
};

/// True if these parts, locked for a long time, leave half of the descriptors to others.
bool leaves_descriptors(const std::vector<LockedPart>& parts);

}  // namespace mcr::aggregation
