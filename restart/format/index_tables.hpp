// SPDX-License-Identifier: BSD-3-Clause
// What the index's tables share: the place of a table, and pages of records of one size.
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

/// The pages of a table whose records have one size. A page holds: u32 table, u32 page number, the
/// records, XXH3-64 of all these. To get one record, a reader fetches one page; the two numbers
/// prove that it is the right page.
struct RecordPages {
  std::uint32_t table;
  std::size_t record_bytes;
  std::size_t records_per_page;

  [[nodiscard]] std::uint64_t page_count(std::uint64_t records) const;
  /// Returns the bytes of a table with `records` records (at most 2^40).
  [[nodiscard]] std::uint64_t table_bytes(std::uint64_t records) const;
  /// Returns where page `page` begins in the table, and its length.
  [[nodiscard]] std::uint64_t page_offset(std::uint64_t page) const;
  [[nodiscard]] std::size_t page_bytes(std::uint64_t records, std::uint64_t page) const;
  /// Checks the page's number and checksum, and returns its records.
  [[nodiscard]] Result<ByteSpan> open(ByteSpan page_bytes, std::uint64_t page) const;
};

/// The limit on names and paths: PATH_MAX is 4096, and HDF5 does not limit its own names.
inline constexpr std::size_t max_text_bytes = 64 * 1024;
/// The limit on a launch's nonce and on the names of scheme, profile and writer, which each set of
/// a bundle repeats.
inline constexpr std::size_t max_word_bytes = 512;

Error damaged_index(const std::string& message);

}  // namespace mcr::restart
