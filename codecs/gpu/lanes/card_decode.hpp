// SPDX-License-Identifier: BSD-3-Clause
// Frames that are decoded for a restart or for `mcr unpack`: on the card, if this process may use one and
// it is faster than the CPU.
#pragma once

#include "codecs/base/bytes.hpp"
#include "codecs/base/result.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/gpu/lanes/open_card.hpp"

namespace mcr::codecs::gpu {

/// Lets decode_frame_where_faster() use the card with up to `lanes` threads at a time. The first call
/// whose options ask for a card counts. In the program's process, the card is opened only after the CPU
/// has decoded a good deal, and only if the program itself uses the card (open_card_of_program()).
void decode_on_card(const CardOptions& options, DriverUse use, unsigned lanes);

/// Does what codecs::decode_frame() does without linked data. Thread-safe. An error of the card leaves the
/// frame to the CPU.
Result<void> decode_frame_where_faster(ByteSpan frame, Scratch& scratch, MutableByteSpan raw);

/// Returns the raw bytes of the frames that the card decoded in this process.
std::uint64_t card_decoded_bytes();

/// Gives back the card's memory and the pinned memory that no frame uses now.
void free_decoding_memory();

}  // namespace mcr::codecs::gpu
