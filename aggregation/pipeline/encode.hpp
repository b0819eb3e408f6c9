// SPDX-License-Identifier: BSD-3-Clause
// Encodes one frame, and checks that it decodes to the same bytes.
#pragma once

#include "aggregation/merge/solid_plan.hpp"
#include "aggregation/pipeline/drain_pipeline.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/choice/chosen_frame.hpp"

namespace mcr::aggregation {

/// The frame that a block holds.
struct FrameNumber {
  std::uint32_t dataset = 0;
  std::uint32_t frame = 0;
};

/// Replaces the contents of `stored` by the encoded frame of `raw`, whose layout is in the plan.
/// `places` has the places of linked datasets in the plan's batches, if there are batches. Frames of
/// variables are encoded by `encode`.
Result<void> encode_block(const MergePlan& plan, const FrameNumber& number,
                          const BatchPlaces& places, const Encoding& encoding, ByteSpan raw,
                          Scratch& scratch, Bytes& stored,
                          const codecs::FrameEncoder& encode = codecs::encode_frame);

/// Cause::damaged: a frame that was made from `raw` decodes to other bytes.
Result<void> compare_with_source(ByteSpan decoded, ByteSpan raw);

/// Cause::damaged: `stored` does not decode to `raw`. Does not follow links, because the solid
/// frames that they name are verified too.
Result<void> verify_block(const DatasetPlan& dataset, const Encoding& encoding, ByteSpan stored,
                          ByteSpan raw, Scratch& scratch);

}  // namespace mcr::aggregation
