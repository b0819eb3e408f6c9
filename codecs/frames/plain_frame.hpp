// SPDX-License-Identifier: BSD-3-Clause
// The parts of a plain frame, for coders of its payload other than the pipeline's codecs
// (codecs/gpu).
#pragma once

#include <vector>

#include "codecs/frames/frame.hpp"

namespace mcr::codecs {

/// Appends the frame of `raw` whose payload a pipeline made. `coded_bytes` are as in run_encode().
/// The empty pipeline's payload is `raw`.
Result<void> write_plain_frame(ByteSpan raw, const Layout& layout, const Pipeline& pipeline,
                               std::span<const std::uint64_t> coded_bytes, ByteSpan payload,
                               Bytes& out);

struct PlainFrame {
  FrameInfo info;
  std::vector<std::uint64_t> coded_bytes;
  ByteSpan payload;
};

/// Reads a header as read_frame_info() does. Cause::unsupported for a link and for a solid frame.
Result<PlainFrame> open_plain_frame(ByteSpan frame);

/// The checks of decode_frame() before decoding, and after it.
Result<void> check_stored(ByteSpan frame, const FrameInfo& info, std::size_t raw_bytes);
Result<void> check_decoded(const FrameInfo& info, ByteSpan raw);

}  // namespace mcr::codecs
