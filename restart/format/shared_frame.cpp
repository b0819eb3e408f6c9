// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/shared_frame.hpp"

#include "codecs/base/checksum.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view magic = "mcr-fr01";

std::uint64_t slot_checksum(const SharedFrameSlot& slot, std::string_view container,
                            const FrameOfContainer& frame) {
  Bytes all;
  Writer out(all);
  out.bytes(as_bytes(container));
  out.u64(frame.number);
  out.u64(frame.place.checksum);
  out.u32(frame.place.stored_bytes);
  out.u32(frame.place.raw_bytes);
  out.u64(slot.offset);
  out.u64(slot.sums_checksum);
  return checksum(all);
}

}  // namespace

Bytes write_shared_frames_head(const SharedFramesHead& head) {
  Bytes bytes;
  Writer out(bytes);
  out.bytes(as_bytes(magic));
  out.u64(head.frame_count);
  out.u64(head.limit);
  out.u64(head.end);
  bytes.resize(SharedFramesHead::bytes);
  return bytes;
}

Result<SharedFramesHead> read_shared_frames_head(ByteSpan bytes) {
  Reader in(bytes);
  if (as_text(MCR_TRY(in.bytes(magic.size()))) != magic)
    return Error{Cause::damaged, "the file holds no shared frames"};
  SharedFramesHead head;
  head.frame_count = MCR_TRY(in.u64());
  head.limit = MCR_TRY(in.u64());
  head.end = MCR_TRY(in.u64());
  return head;
}

Bytes write_shared_frame_slot(const SharedFrameSlot& slot, std::string_view container,
                              const FrameOfContainer& frame) {
  Bytes bytes;
  Writer out(bytes);
  out.u64(slot.offset);
  out.u64(slot.sums_checksum);
  out.u64(slot_checksum(slot, container, frame));
  return bytes;
}

std::optional<SharedFrameSlot> read_shared_frame_slot(ByteSpan bytes, std::string_view container,
                                                      const FrameOfContainer& frame) {
  if (bytes.size() != SharedFrameSlot::bytes) return std::nullopt;
  const auto word = [&](std::size_t i) {
    return little_endian(load<std::uint64_t>(bytes.data() + 8 * i));
  };
  const SharedFrameSlot slot{word(0), word(1)};
  if (slot.offset == 0 || word(2) != slot_checksum(slot, container, frame)) return std::nullopt;
  return slot;
}

}  // namespace mcr::restart
