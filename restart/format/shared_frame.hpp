// SPDX-License-Identifier: BSD-3-Clause
// Layout of the file in a launch's directory in which its ranks share decoded frames
// (restart/container/shared_frames). docs/format.md, "Shared frames". The bytes are used only if
// their checksum matches, because a dying process or another user may have written them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "codecs/base/bytes.hpp"
#include "restart/format/index.hpp"

namespace mcr::restart {

/// The first 64 bytes. The slots follow at offset SharedFramesHead::slots, one for each frame of
/// the container.
struct SharedFramesHead {
  static constexpr std::size_t bytes = 64;
  static constexpr std::uint64_t slots = 4096;
  static constexpr std::uint64_t end_place = 24;      ///< offset of the field `end` in this file
  static constexpr std::uint64_t touched_place = 32;  ///< rewritten while the file is in use

  std::uint64_t frame_count = 0;
  std::uint64_t limit = 0;  ///< upper bound of `end`
  std::uint64_t end = 0;    ///< the space from here on is free
};
Bytes write_shared_frames_head(const SharedFramesHead& head);
Result<SharedFramesHead> read_shared_frames_head(ByteSpan bytes);

/// A frame of the container.
struct FrameOfContainer {
  std::uint64_t number = 0;  ///< index in the container's one frame table
  FramePlace place;
};

/// Where a decoded frame lies in the file: first the checksums of its blocks, then its bytes. The
/// last block may be shorter.
struct SharedFrameSlot {
  static constexpr std::size_t bytes = 24;
  static constexpr std::size_t block_bytes = 16384;

  std::uint64_t offset = 0;
  std::uint64_t sums_checksum = 0;  ///< checksum of the blocks' checksums
};
/// The slot's own checksum also covers `container` (the name of the shared file) and the index's
/// record of the frame.
Bytes write_shared_frame_slot(const SharedFrameSlot& slot, std::string_view container,
                              const FrameOfContainer& frame);
/// Returns nothing if the slot is empty, half written, or another frame's.
std::optional<SharedFrameSlot> read_shared_frame_slot(ByteSpan bytes, std::string_view container,
                                                      const FrameOfContainer& frame);

/// Returns the number of blocks of a frame with `raw_bytes`.
inline std::size_t shared_frame_blocks(std::size_t raw_bytes) {
  return (raw_bytes + SharedFrameSlot::block_bytes - 1) / SharedFrameSlot::block_bytes;
}

}  // namespace mcr::restart
