// SPDX-License-Identifier: BSD-3-Clause
// What the index's tables have in common: where one lies, and records of one size in pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

struct TablePlace {
  std::uint64_t offset = 0;  ///< within the index
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;
};
void write_place(const TablePlace& place, Writer& out);
Result<TablePlace> read_place(Reader& in, std::uint64_t index_bytes);

/// Records of one size lie in pages: u32 table, u32 page number, up to so many records, XXH3-64 of
/// all that. So a reader fetches one page for one record, and no record can be taken for another.
struct RecordPages {
  std::uint32_t table;
  std::size_t record_bytes;
  std::size_t records_per_page;

  [[nodiscard]] std::uint64_t page_count(std::uint64_t records) const;
  /// Bytes of the whole table with so many records (which are at most 2^40).
  [[nodiscard]] std::uint64_t table_bytes(std::uint64_t records) const;
  /// Page `page`: where it begins in the table, and how many bytes it has.
  [[nodiscard]] std::uint64_t page_offset(std::uint64_t page) const;
  [[nodiscard]] std::size_t page_bytes(std::uint64_t records, std::uint64_t page) const;
  /// The records of page number `page`, its checksum checked.
  [[nodiscard]] Result<ByteSpan> open(ByteSpan page_bytes, std::uint64_t page) const;
};

/// No name or path is longer: PATH_MAX is 4096, HDF5 puts no limit on its own names.
inline constexpr std::size_t max_text_bytes = 64 * 1024;

Error damaged_index(const std::string& message);

}  // namespace mcr::restart
