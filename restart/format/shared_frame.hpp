// SPDX-License-Identifier: BSD-3-Clause
// Bytes of the file in a launch's directory in which its ranks leave decoded frames for one another
// (restart/container/shared_frames). docs/format.md, "Shared frames". Bytes that a
// dying process or another user left there are used only if their checksum matches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "codecs/base/bytes.hpp"
#include "restart/format/index.hpp"

namespace mcr::restart {

/// The first 64 bytes. The slots follow at SharedFramesHead::slots, one for each frame of the
/// container.
struct SharedFramesHead {
  static constexpr std::size_t bytes = 64;
  static constexpr std::uint64_t slots = 4096;
  static constexpr std::uint64_t end_place = 24;      ///< where `end` lies
  static constexpr std::uint64_t touched_place = 32;  ///< written now and then: the file is in use

  std::uint64_t frame_count = 0;
  std::uint64_t limit = 0;  ///< `end` never goes beyond
  std::uint64_t end = 0;    ///< what lies behind belongs to nobody yet
};
Bytes write_shared_frames_head(const SharedFramesHead& head);
Result<SharedFramesHead> read_shared_frames_head(ByteSpan bytes);

/// A frame of the container.
struct FrameOfContainer {
  std::uint64_t number = 0;  ///< in the container's one table of frames
  FramePlace place;
};

/// Where a decoded frame lies in the file: first the checksums of its blocks (the last one may be
/// shorter), then its bytes.
struct SharedFrameSlot {
  static constexpr std::size_t bytes = 24;
  static constexpr std::size_t block_bytes = 16384;

  std::uint64_t offset = 0;
  std::uint64_t sums_checksum = 0;  ///< of the checksums of the blocks
};
/// The slot's own checksum covers `container`, the name of the file, and what the index says of the
/// frame.
Bytes write_shared_frame_slot(const SharedFrameSlot& slot, std::string_view container,
                              const FrameOfContainer& frame);
/// Nothing where the slot is empty, half written, or another frame's.
std::optional<SharedFrameSlot> read_shared_frame_slot(ByteSpan bytes, std::string_view container,
                                                      const FrameOfContainer& frame);

/// Of a frame with so many raw bytes.
inline std::size_t shared_frame_blocks(std::size_t raw_bytes) {
  return (raw_bytes + SharedFrameSlot::block_bytes - 1) / SharedFrameSlot::block_bytes;
}

}  // namespace mcr::restart
