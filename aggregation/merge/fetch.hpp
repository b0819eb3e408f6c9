// SPDX-License-Identifier: BSD-3-Clause
// Gathers a frame's raw bytes from the parts that hold them. Uses pread, not a mapping, for two
// reasons: mapped pages of the stage would count as this process's memory, and a read beyond the
// end of a part that has shrunk would raise a signal.
#pragma once

#include "aggregation/merge/part_reads.hpp"
#include "aggregation/merge/plan.hpp"

namespace mcr::aggregation {

/// Fills `raw` (exactly frame.bytes long) with the frame's bytes. For the skeleton of a part with a
/// base, these are the differences to the base.
Result<void> fetch_frame(const MergePlan& plan, PartReads& reads, const DatasetPlan& dataset,
                         const DatasetPlan::Frame& frame, MutableByteSpan raw);

/// Makes the first part's skeleton the base of all skeletons that nearly equal it: those are stored
/// as differences to the base. If the parts differ in values only, all skeletons together then cost
/// little more than one.
Result<void> find_skeleton_bases(MergePlan& plan, PartReads& reads);

}  // namespace mcr::aggregation
