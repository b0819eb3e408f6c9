// SPDX-License-Identifier: BSD-3-Clause
// Frames encoded and decoded on an accelerator, with the same bytes as on the CPU.
#pragma once

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/gpu/queue.hpp"

namespace mcr::codecs::gpu {

/// True if encode_frame() takes frames of `layout` under `pipeline`. False for pipelines with codecs
/// that search for repeated strings, and for those that the CPU codes as fast as it reads.
[[nodiscard]] bool can_encode(const Pipeline& pipeline, const Layout& layout);

/// Appends to `out` the frame that codecs::encode_frame() appends for these arguments. Reserves
/// memory of the queue and releases all of it. On failure `out` is unchanged: Cause::full if the
/// queue has not enough memory, Cause::usage if can_encode() is false, else what the queue returned.
Result<void> encode_frame(Queue& queue, ByteSpan raw, const Layout& layout,
                          const Pipeline& pipeline, Scratch& scratch, Bytes& out);

/// True if decode_frame() takes frames with this header.
[[nodiscard]] bool can_decode(const FrameInfo& info);

/// Fills `raw` as codecs::decode_frame() does, with the same checks: Cause::damaged if a checksum
/// differs or the stored bytes are invalid. Whatever `frame` holds, all accesses stay inside of the
/// frame, `raw` and the memory that was reserved.
Result<void> decode_frame(Queue& queue, ByteSpan frame, Scratch& scratch, MutableByteSpan raw);

}  // namespace mcr::codecs::gpu
