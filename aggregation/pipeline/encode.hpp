// SPDX-License-Identifier: BSD-3-Clause
// One frame from raw to stored bytes, and the proof that it comes back.
#pragma once

#include "aggregation/pipeline/drain_pipeline.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::aggregation {

/// Replaces `stored` with the encoded frame of `raw`, whose layout the plan knows.
Result<void> encode_block(const DatasetPlan& dataset, const DatasetPlan::Frame& frame,
                          const Encoding& encoding, ByteSpan raw, Scratch& scratch, Bytes& stored);

/// Cause::damaged where `stored` does not decode to `raw`.
Result<void> verify_block(const DatasetPlan& dataset, const Encoding& encoding, ByteSpan stored,
                          ByteSpan raw, Scratch& scratch);

}  // namespace mcr::aggregation
