// SPDX-License-Identifier: BSD-3-Clause
// The unit of compression: self-describing, checksummed, decodable alone. docs/format.md, "Frame".
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/codec_pipeline.hpp"
#include "codecs/layout.hpp"

namespace mcr::codecs {

/// What a frame says of itself.
struct FrameInfo {
  Layout layout;
  Pipeline pipeline;  ///< empty: stored as it is
  std::uint64_t raw_bytes = 0;
  std::uint64_t frame_bytes = 0;  ///< header included
  std::uint64_t raw_checksum = 0;
};

/// Appends one frame that holds `raw` (exactly `layout.raw_bytes()` long) to `out`. Where the pipeline
/// does not make it smaller, or cannot take the layout, the frame stores the bytes as they are.
Result<void> encode_frame(ByteSpan raw, const Layout& layout, const Pipeline& pipeline,
                          Scratch& scratch, Bytes& out);

/// Reads the header alone. `frame` may be longer than the frame.
/// Cause::damaged where header and bytes disagree, Cause::unsupported for a newer format or codec.
Result<FrameInfo> read_frame_info(ByteSpan frame);

/// Decodes a whole frame into `raw` (exactly its raw_bytes long). Both checksums are checked: the
/// stored one before decoding, the raw one after; where either differs, `raw` means nothing.
Result<void> decode_frame(ByteSpan frame, Scratch& scratch, MutableByteSpan raw);

}  // namespace mcr::codecs
