// SPDX-License-Identifier: BSD-3-Clause
// Append-only files of small records: u32 length of the payload, u8 kind, payload, u64 XXH3-64 of
// all that. A torn last record is as if it had not been written. Journals and presence files are
// such files.
#pragma once

#include <cstdint>
#include <optional>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

Bytes write_record(std::uint8_t kind, ByteSpan payload);

struct Record {
  std::uint8_t kind = 0;
  ByteSpan payload;
};

/// Reads one record after the other and stops before the first one that is not whole.
class RecordReader {
 public:
  explicit RecordReader(ByteSpan file) : rest_(file) {}
  std::optional<Record> next();
  /// What is left: more than 0 after the last record where that one is torn.
  [[nodiscard]] std::size_t remaining() const { return rest_.size(); }

 private:
  ByteSpan rest_;
};

}  // namespace mcr::restart
