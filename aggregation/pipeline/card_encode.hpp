// SPDX-License-Identifier: BSD-3-Clause
// Encodes one frame on the card, with the same bytes as on the CPU, and checks that it decodes to the
// same bytes.
#pragma once

#include "aggregation/pipeline/encode.hpp"
#include "codecs/gpu/queue.hpp"

namespace mcr::aggregation {

/// True if the card has the codecs for the frame, and the frame is worth the way to it.
bool suits_card(const DatasetPlan& dataset, const DatasetPlan::Frame& frame,
                const Encoding& encoding);

/// Does what encode_block() does, for a frame that suits the card. An error says that the CPU has to
/// encode the frame: Cause::full, because it does not fit into the queue's memory.
Result<void> encode_block_on_card(codecs::gpu::Queue& queue, const MergePlan& plan,
                                  const FrameNumber& number, const Encoding& encoding, ByteSpan raw,
                                  Scratch& scratch, Bytes& stored);

/// True if the card has the codecs for decoding the frame.
bool decodes_on_card(ByteSpan stored);

/// Does what verify_block() does, for a frame that decodes_on_card(): the card decodes, the CPU checks the
/// checksums and compares.
Result<void> verify_block_on_card(codecs::gpu::Queue& queue, ByteSpan stored, ByteSpan raw,
                                  Scratch& scratch);

}  // namespace mcr::aggregation
