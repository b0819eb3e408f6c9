// SPDX-License-Identifier: BSD-3-Clause
// The unit of compression: self-describing, checksummed, decodable alone. docs/format.md, "Frame".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/base/layout_format.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/frames/linked_data.hpp"

namespace mcr::codecs {

/// Frame format that this build writes; it reads all formats from 1 on.
inline constexpr std::uint8_t frame_format_version = 1;

/// The most bytes by which a frame is longer than its raw bytes, if its bricks have one shape.
inline constexpr std::size_t max_frame_overhead = 96;

/// Consecutive raw bytes of a dataset.
struct LinkRun {
  std::uint64_t raw_offset = 0;
  std::uint64_t bytes = 0;

  bool operator==(const LinkRun&) const = default;
};

/// Bytes of another dataset of the same container, which a frame repeats.
struct Link {
  std::uint32_t dataset = 0;
  std::vector<LinkRun> runs;  ///< together as long as the frame's raw bytes

  bool operator==(const Link&) const = default;
};

/// The contents of a frame's header.
struct FrameInfo {
  std::uint8_t format_version = frame_format_version;
  Layout layout;
  Pipeline pipeline;         ///< empty: stored as it is
  std::optional<Link> link;  ///< set: the frame holds no data, only this reference
  bool solid = false;  ///< several variables (solid/solid_frame.hpp); the layout is flat bytes
  std::uint64_t raw_bytes = 0;
  std::uint64_t frame_bytes = 0;  ///< header and checksums included
  std::uint64_t raw_checksum = 0;
};

/// Cause::usage if `layout` breaks a limit above or describes an element that does not exist.
Result<void> check_layout(const Layout& layout);

/// Appends one frame that holds `raw` (exactly `layout.raw_bytes()` long) to `out`. If the pipeline
/// does not make it smaller, or cannot take the layout, the frame stores the bytes unchanged. On
/// failure `out` is unchanged.
Result<void> encode_frame(ByteSpan raw, const Layout& layout, const Pipeline& pipeline,
                          Scratch& scratch, Bytes& out);

/// Appends a frame with the same raw bytes as those that `link` names. `raw_checksum` is the
/// checksum of these bytes. The frame takes some forty bytes for one run, whatever the layout's
/// size.
Result<void> encode_link_frame(const Layout& layout, const Link& link, std::uint64_t raw_checksum,
                               Bytes& out);

/// Reads only the header. `frame` may be longer than the frame.
/// Cause::damaged: header and bytes disagree. Cause::unsupported: a newer format or codec.
Result<FrameInfo> read_frame_info(ByteSpan frame);

/// Decodes a whole frame, also a solid one, into `raw` (exactly its raw_bytes long). Checks the
/// checksum of the stored bytes before decoding, and that of the raw bytes after it; if either
/// differs, `raw` is undefined. A frame that links to other data reads it from `linked`;
/// Cause::unsupported if that is null.
Result<void> decode_frame(ByteSpan frame, Scratch& scratch, MutableByteSpan raw,
                          LinkedData* linked = nullptr);

}  // namespace mcr::codecs
