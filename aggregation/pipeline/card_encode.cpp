// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/card_encode.hpp"

#include "codecs/frames/frame.hpp"
#include "codecs/gpu/coder/frame_coder.hpp"
#include "codecs/gpu/lanes/card_lanes.hpp"

namespace mcr::aggregation {

namespace gpu = codecs::gpu;

bool suits_card(const DatasetPlan& dataset, const DatasetPlan::Frame& frame,
                const Encoding& encoding) {
  if (encoding.storage != restart::DatasetStorage::frames || dataset.linked ||
      dataset.kind != restart::DatasetKind::variable || frame.bytes < gpu::least_card_frame_bytes)
    return false;
  const codecs::Layout layout = dataset.layout_of(frame);
  const codecs::Choice& choice = encoding.choice;
  return gpu::can_encode(choice.pipeline, layout) &&
         (!choice.other || gpu::can_encode(*choice.other, layout));
}

Result<void> encode_block_on_card(gpu::Queue& queue, const MergePlan& plan,
                                  const FrameNumber& number, const Encoding& encoding, ByteSpan raw,
                                  Scratch& scratch, Bytes& stored) {
  // A frame that disappoints gets a new choice, which the card may not have.
  const auto encode = [&queue](ByteSpan bytes, const codecs::Layout& layout,
                               const codecs::Pipeline& pipeline, Scratch& memory,
                               Bytes& out) -> Result<void> {
    return gpu::can_encode(pipeline, layout)
               ? gpu::encode_frame(queue, bytes, layout, pipeline, memory, out)
               : codecs::encode_frame(bytes, layout, pipeline, memory, out);
  };
  return encode_block(plan, number, {}, encoding, raw, scratch, stored, encode);
}

bool decodes_on_card(ByteSpan stored) {
  const auto info = codecs::read_frame_info(stored);
  return info && gpu::can_decode(*info);
}

Result<void> verify_block_on_card(gpu::Queue& queue, ByteSpan stored, ByteSpan raw,
                                  Scratch& scratch) {
  const auto decoded = scratch.take<std::byte>(raw.size());
  const auto result = gpu::decode_frame(queue, stored, scratch, decoded.span());
  if (!result) return result;
  return compare_with_source(decoded.span(), raw);
}

}  // namespace mcr::aggregation
