// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/encode.hpp"

#include <cstring>

#include "codecs/base/checksum.hpp"
#include "codecs/frames/frame.hpp"
#include "restart/format/plain_chunk.hpp"

namespace mcr::aggregation {
namespace {

bool is_plain(const Encoding& encoding) {
  return encoding.storage == restart::DatasetStorage::deflate;
}

}  // namespace

Result<void> encode_block(const MergePlan& plan, const FrameNumber& number,
                          const BatchPlaces& places, const Encoding& encoding, ByteSpan raw,
                          Scratch& scratch, Bytes& stored, const codecs::FrameEncoder& encode) {
  stored.clear();
  const DatasetPlan& dataset = plan.datasets[number.dataset];
  const DatasetPlan::Frame frame = dataset.frame(number.frame);
  if (is_plain(encoding)) {
    return restart::encode_plain_chunk(raw, static_cast<std::uint32_t>(dataset.type_bytes),
                                       static_cast<std::uint32_t>(dataset.chunk_bytes()), scratch,
                                       stored);
  }
  if (dataset.kind == restart::DatasetKind::batch) {
    return codecs::encode_solid_frame(raw, dataset.solid[number.frame].sections, encoding.solid,
                                      scratch, stored);
  }
  if (dataset.linked) {
    // A link frame is flat: a reader that follows the link needs only bytes, and shapes would make
    // the frame longer.
    const auto count = static_cast<std::uint32_t>(frame.bytes / dataset.element.size);
    const codecs::Layout layout{dataset.element, {codecs::Shape::flat(count)}};
    const std::uint64_t row = plan.datasets[plan.batches].chunk_bytes();
    return codecs::encode_link_frame(
        layout, {plan.batches, places.runs_of(number.dataset, frame, row)}, checksum(raw), stored);
  }
  return codecs::encode_chosen_frame(encoding.choice, encoding.profile, raw,
                                     dataset.layout_of(frame), encoding.columns, scratch, stored,
                                     encode);
}

Result<void> compare_with_source(ByteSpan decoded, ByteSpan raw) {
  if (std::memcmp(decoded.data(), raw.data(), raw.size()) != 0) {
    return Error{Cause::damaged,
                 "the frame decodes to other bytes than those from which it was made"};
  }
  return {};
}

Result<void> verify_block(const DatasetPlan& dataset, const Encoding& encoding, ByteSpan stored,
                          ByteSpan raw, Scratch& scratch) {
  if (dataset.linked) return {};
  const auto decoded = scratch.take<std::byte>(raw.size());
  const auto result =
      is_plain(encoding)
          ? restart::decode_plain_chunk(stored, static_cast<std::uint32_t>(dataset.type_bytes),
                                        static_cast<std::uint32_t>(dataset.chunk_bytes()), scratch,
                                        decoded.span())
          : codecs::decode_frame(stored, scratch, decoded.span());
  if (!result) return result;
  return compare_with_source(decoded.span(), raw);
}

}  // namespace mcr::aggregation
