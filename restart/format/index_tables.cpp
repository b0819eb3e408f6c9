// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/index_tables.hpp"

#include <algorithm>

#include "codecs/base/checksum.hpp"

namespace mcr::restart {
namespace {

constexpr std::uint64_t max_records = std::uint64_t{1} << 40;

}  // namespace

Error damaged_index(const std::string& message) { return {Cause::damaged, "index: " + message}; }

void write_place(const TablePlace& place, Writer& out) {
  out.varint(place.offset);
  out.varint(place.bytes);
  out.varint(place.count);
  out.u64(place.checksum);
}

Result<TablePlace> read_place(Reader& in, std::uint64_t index_bytes) {
  TablePlace place;
  place.offset = MCR_TRY(in.varint_at_most(index_bytes, "table offset"));
  place.bytes = MCR_TRY(in.varint_at_most(index_bytes - place.offset, "table size"));
  place.count = MCR_TRY(in.varint_at_most(max_records, "table count"));
  place.checksum = MCR_TRY(in.u64());
  return place;
}

std::uint64_t RecordPages::page_count(std::uint64_t records) const {
  return records / records_per_page + (records % records_per_page != 0);
}
std::uint64_t RecordPages::page_offset(std::uint64_t page) const {
  return page * (8 + records_per_page * record_bytes + 8);
}
std::uint64_t RecordPages::table_bytes(std::uint64_t records) const {
  return page_count(records) * 16 + records * record_bytes;
}
std::size_t RecordPages::page_bytes(std::uint64_t records, std::uint64_t page) const {
  const std::uint64_t first = page * records_per_page;
  const std::uint64_t here = std::min<std::uint64_t>(records - first, records_per_page);
  return static_cast<std::size_t>(16 + here * record_bytes);
}
Result<ByteSpan> RecordPages::open(ByteSpan page_bytes, std::uint64_t page) const {
  if (page_bytes.size() < 16) return damaged_index("page ends too early");
  Reader in(page_bytes);
  const std::uint32_t stored_table = MCR_TRY(in.u32());
  const std::uint32_t stored_page = MCR_TRY(in.u32());
  const ByteSpan records = MCR_TRY(in.bytes(page_bytes.size() - 16));
  if (MCR_TRY(in.u64()) != checksum(page_bytes.first(page_bytes.size() - 8)) ||
      stored_table != table || stored_page != page) {
    return damaged_index("page " + std::to_string(page) + " of table " + std::to_string(table) +
                         " does not match its checksum");
  }
  return records;
}

}  // namespace mcr::restart
