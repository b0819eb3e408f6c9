// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes a container's index: with arbitrary bytes as each of its tables, with the right checksums, as rows of a table,
// and as a whole index, which a reader follows from the directory to the last map page.
#include <algorithm>
#include <cstdlib>

#include "codecs/base/checksum.hpp"
#include "restart/format/index.hpp"
#include "restart/format/table_rows.hpp"

namespace {

using namespace mcr;
using namespace mcr::restart;

/// The bytes of a place; its checksum is put right.
ByteSpan at(ByteSpan index, TablePlace& place) {
  if (place.offset > index.size() || place.bytes > index.size() - place.offset) std::abort();
  const ByteSpan bytes =
      index.subspan(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(place.bytes));
  place.checksum = checksum(bytes);
  return bytes;
}

void follow_part(ByteSpan index, PartRecord& part, std::uint64_t dataset_count) {
  const auto pages = read_page_table(at(index, part.page_table), part, index.size());
  if (!pages) return;
  for (std::size_t i = 0; i < pages->size(); ++i) {
    MapPage page = (*pages)[i];
    const std::uint64_t end =
        i + 1 < pages->size() ? (*pages)[i + 1].first_part_offset : part.entry.size;
    if (end < page.first_part_offset) std::abort();
    const ByteSpan bytes = at(index, page.place);
    const auto entries = read_map_page(bytes, page, end - page.first_part_offset,
                                       part.entry.skeleton.bytes, dataset_count);
    if (!entries) continue;
    std::uint64_t covered = 0;
    for (const MapEntry& entry : *entries) {
      covered += entry.length;
      if (entry.dataset == MapEntry::skeleton) {
        if (entry.skeleton_position + entry.length > part.entry.skeleton.bytes) std::abort();
      } else if (entry.dataset >= dataset_count) {
        std::abort();
      }
    }
    if (covered != end - page.first_part_offset) std::abort();
  }
}

void follow_index(ByteSpan index) {
  auto directory = read_index_directory(index, index.size());
  if (!directory) return;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(directory->datasets.count, 1000); ++i) {
    const std::uint64_t page = i / dataset_pages.records_per_page;
    const std::size_t begin =
        static_cast<std::size_t>(directory->datasets.offset + dataset_pages.page_offset(page)) + 8 +
        i % dataset_pages.records_per_page * DatasetEntry::record_bytes;
    if (begin + DatasetEntry::record_bytes > index.size()) std::abort();
    const auto record =
        read_dataset_record(index.subspan(begin, DatasetEntry::record_bytes), *directory);
    if (record && record->entry.first_frame + record->entry.frame_count > directory->frames.count) {
      std::abort();
    }
  }
  const ByteSpan table = at(index, directory->parts);
  auto parts = read_part_table(table, directory->parts, index.size());
  if (!parts) return;
  for (PartRecord& part : *parts) follow_part(index, part, directory->datasets.count);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  follow_index(bytes);
  static_cast<void>(read_user_block(bytes));

  const std::uint64_t count = size == 0 ? 0 : data[0];
  const TablePlace place{0, size, count, checksum(bytes)};
  static_cast<void>(read_part_table(bytes, place, size));
  PartRecord part;
  part.entry.size = 1000;
  part.entry.skeleton.bytes = 500;
  part.page_table = place;
  static_cast<void>(read_page_table(bytes, part, size));
  static_cast<void>(read_map_page(bytes, {0, place}, 1000, 500, 9));
  for (const bool is_flat : {false, true}) {
    std::vector<TabledVariable> variables;
    if (!read_table_rows(bytes, count % 64, is_flat, variables)) continue;
    std::uint64_t pieces = 0;
    for (const TabledVariable& variable : variables) pieces += variable.pieces;
    if (pieces != size / (count % 64)) std::abort();
  }
  static_cast<void>(table_role_of(as_text(bytes)));
  if (size >= FramePlace::record_bytes) static_cast<void>(read_frame_place(bytes, 1U << 20));
  return 0;
}
