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

/// The frame format that this build writes. It reads all formats from 1 to this one.
inline constexpr std::uint8_t frame_format_version = 1;

/// The most bytes by which a frame is longer than its raw bytes, if its bricks have one shape.
inline constexpr std::size_t max_frame_overhead = 96;

/// Consecutive raw bytes of a dataset.
struct LinkRun {
  std::uint64_t raw_offset = 0;
  std::uint64_t bytes = 0;

  bool operator==(const LinkRun&) const = default;
};

/// A reference from a frame to bytes of another dataset of the same container.
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
  std::optional<Link> link;  ///< if set, the frame has no data but this reference
  bool solid = false;  ///< several variables (solid/solid_frame.hpp); the layout is flat bytes
  std::uint64_t raw_bytes = 0;
  std::uint64_t frame_bytes = 0;  ///< header and checksums included
  std::uint64_t raw_checksum = 0;
};

/// Cause::usage: `layout` breaks a limit of layout_format.hpp, or its element type does not exist.
Result<void> check_layout(const Layout& layout);

/// Appends to `out` a frame with the bytes `raw` (exactly `layout.raw_bytes()` long). If the
/// pipeline does not make them smaller, or cannot take the layout, the frame stores them unchanged.
/// On failure `out` is unchanged.
Result<void> encode_frame(ByteSpan raw, const Layout& layout, const Pipeline& pipeline,
                          Scratch& scratch, Bytes& out);

/// Appends a link frame, whose raw bytes are those that `link` names. `raw_checksum` is their
/// checksum. With one run, the frame takes some forty bytes, however many raw bytes it has.
Result<void> encode_link_frame(const Layout& layout, const Link& link, std::uint64_t raw_checksum,
                               Bytes& out);

/// Reads only the header. `frame` may be longer than the frame.
/// Cause::damaged: the header is invalid. Cause::unsupported: the frame has a newer format or an
/// unknown codec.
Result<FrameInfo> read_frame_info(ByteSpan frame);

/// Decodes a whole frame of any kind into `raw` (exactly its raw_bytes long). Checks the checksum
/// of the stored bytes before decoding, and the checksum of the raw bytes after it. If either
/// differs, the contents of `raw` are undefined. The bytes of a link frame are read from `linked`;
/// if that is null, Cause::unsupported.
Result<void> decode_frame(ByteSpan frame, Scratch& scratch, MutableByteSpan raw,
                          LinkedData* linked = nullptr);

}  // namespace mcr::codecs
