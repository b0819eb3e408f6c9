// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/record.hpp"

#include "codecs/base/checksum.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t head_bytes = 5;
constexpr std::size_t tail_bytes = 8;

}  // namespace

Bytes write_record(std::uint8_t kind, ByteSpan payload) {
  Bytes record;
  record.reserve(head_bytes + payload.size() + tail_bytes);
  Writer writer(record);
  writer.u32(static_cast<std::uint32_t>(payload.size()));
  writer.u8(kind);
  writer.bytes(payload);
  writer.u64(checksum(record));
  return record;
}

std::optional<Record> RecordReader::next() {
  if (rest_.size() < head_bytes + tail_bytes) return std::nullopt;
  const std::size_t length = little_endian(load<std::uint32_t>(rest_.data()));
  if (length > rest_.size() - head_bytes - tail_bytes) return std::nullopt;
  const std::size_t summed = head_bytes + length;
  if (little_endian(load<std::uint64_t>(rest_.data() + summed)) != checksum(rest_.first(summed))) {
    return std::nullopt;
  }
  const Record record{std::to_integer<std::uint8_t>(rest_[4]), rest_.subspan(head_bytes, length)};
  rest_ = rest_.subspan(summed + tail_bytes);
  return record;
}

}  // namespace mcr::restart
