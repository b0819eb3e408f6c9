// SPDX-License-Identifier: BSD-3-Clause
// Append-only files of small records: u32 length of the payload, u8 kind, payload, u64 XXH3-64 of
// all these bytes. A torn last record is ignored. Journals and presence files have this form.
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

/// Reads record by record and stops before the first one that is not whole.
class RecordReader {
 public:
  explicit RecordReader(ByteSpan file) : rest_(file) {}
  std::optional<Record> next();
  /// Returns the number of unread bytes. If it is not 0 after the last whole record, the file ends
  /// in a torn record.
  [[nodiscard]] std::size_t remaining() const { return rest_.size(); }

 private:
  ByteSpan rest_;
};

}  // namespace mcr::restart
