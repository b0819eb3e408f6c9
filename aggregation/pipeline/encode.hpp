// SPDX-License-Identifier: BSD-3-Clause
// One frame from raw to stored bytes, and the proof that it comes back.
#pragma once

#include "aggregation/merge/solid_plan.hpp"
#include "aggregation/pipeline/drain_pipeline.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::aggregation {

/// Which frame a block is.
struct FrameNumber {
  std::uint32_t dataset = 0;
  std::uint32_t frame = 0;
};

/// Replaces `stored` with the encoded frame of `raw`, whose layout the plan knows. `places`: of the
/// plan's batches, where it has any.
Result<void> encode_block(const MergePlan& plan, const FrameNumber& number,
                          const BatchPlaces& places, const Encoding& encoding, ByteSpan raw,
                          Scratch& scratch, Bytes& stored);

/// Cause::damaged where `stored` does not decode to `raw`. Links are not followed: what they name
/// is verified where it lies.
Result<void> verify_block(const DatasetPlan& dataset, const Encoding& encoding, ByteSpan stored,
                          ByteSpan raw, Scratch& scratch);

}  // namespace mcr::aggregation
