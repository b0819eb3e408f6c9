// SPDX-License-Identifier: BSD-3-Clause
// Gathers a frame's raw bytes from the parts that hold them. By pread, not through a mapping: pages
// of the stage would count as this process's memory, and a part that shrank would be a signal.
#pragma once

#include "aggregation/merge/part_reads.hpp"
#include "aggregation/merge/plan.hpp"

namespace mcr::aggregation {

/// Fills `raw` (exactly frame.bytes long) with the frame's bytes; of the skeletons of parts with a
/// base, the difference to it.
Result<void> fetch_frame(const MergePlan& plan, PartReads& reads, const DatasetPlan& dataset,
                         const DatasetPlan::Frame& frame, MutableByteSpan raw);

/// Takes the first part's skeleton as the base of all those that are nearly equal to it: of a set
/// whose parts differ in values only, all skeletons together then cost little more than one.
Result<void> find_skeleton_bases(MergePlan& plan, PartReads& reads);

}  // namespace mcr::aggregation
