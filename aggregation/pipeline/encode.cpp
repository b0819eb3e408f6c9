// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/encode.hpp"

#include <cstring>

#include "codecs/frame.hpp"
#include "restart/format/plain_chunk.hpp"

namespace mcr::aggregation {
namespace {

bool is_plain(const Encoding& encoding) {
  return encoding.storage == restart::DatasetStorage::deflate;
}

}  // namespace

Result<void> encode_block(const DatasetPlan& dataset, const DatasetPlan::Frame& frame,
                          const Encoding& encoding, ByteSpan raw, Scratch& scratch, Bytes& stored) {
  stored.clear();
  if (is_plain(encoding)) {
    return restart::encode_plain_chunk(raw, static_cast<std::uint32_t>(dataset.type_bytes),
                                       static_cast<std::uint32_t>(dataset.chunk_bytes()), scratch,
                                       stored);
  }
  return codecs::encode_frame(raw, dataset.layout_of(frame), encoding.pipeline, scratch, stored);
}

Result<void> verify_block(const DatasetPlan& dataset, const Encoding& encoding, ByteSpan stored,
                          ByteSpan raw, Scratch& scratch) {
  const auto decoded = scratch.take<std::byte>(raw.size());
  const auto result =
      is_plain(encoding)
          ? restart::decode_plain_chunk(stored, static_cast<std::uint32_t>(dataset.type_bytes),
                                        static_cast<std::uint32_t>(dataset.chunk_bytes()), scratch,
                                        decoded.span())
          : codecs::decode_frame(stored, scratch, decoded.span());
  if (!result) return result;
  if (std::memcmp(decoded.data(), raw.data(), raw.size()) != 0) {
    return Error{Cause::damaged, "frame decodes to other bytes than it was made from"};
  }
  return {};
}

}  // namespace mcr::aggregation
