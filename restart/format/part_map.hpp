// SPDX-License-Identifier: BSD-3-Clause
// Which bytes of a part lie where: its map, in pages that a reader fetches one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "restart/format/index_tables.hpp"

namespace mcr::restart {

struct PartEntry;
struct PartRecord;

/// `length` bytes of a part that lie in `dataset` from byte `frame_offset` of its frame `frame`
/// (counted within the dataset) on, running on into the following frames; or that are its
/// skeleton's from `skeleton_position` on (two or three bytes on disk: skeletons are the gaps
/// between fragments).
struct MapEntry {
  static constexpr std::uint32_t skeleton = 0xffffffff;  ///< in place of a dataset
  static constexpr std::size_t per_page = 512;

  std::uint64_t length = 0;
  std::uint32_t dataset = 0;
  std::uint32_t frame = 0;
  std::uint32_t frame_offset = 0;
  std::uint64_t skeleton_position = 0;

  bool operator==(const MapEntry&) const = default;
};
struct MapPage {
  std::uint64_t first_part_offset = 0;
  TablePlace place;
};

/// The part's pages, then its page table, at the index's end; gives the table's place.
TablePlace write_part_map(const PartEntry& part, Bytes& index);

Result<std::vector<MapPage>> read_page_table(ByteSpan bytes, const PartRecord& part,
                                             std::uint64_t index_bytes);
/// The entries of one page; together they are exactly as long as the page is (up to the next page's
/// first offset, or the part's end).
Result<std::vector<MapEntry>> read_map_page(ByteSpan bytes, const MapPage& page,
                                            std::uint64_t part_bytes_covered,
                                            std::uint64_t skeleton_bytes,
                                            std::uint64_t dataset_count);

}  // namespace mcr::restart
