// SPDX-License-Identifier: BSD-3-Clause
// A part's map says where in the container each byte of the part lies. It is stored in pages that a
// reader fetches one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "restart/format/index_tables.hpp"

namespace mcr::restart {

struct PartEntry;
struct PartRecord;

/// `length` bytes of a part. They lie in `dataset` from byte `frame_offset` of its frame `frame`
/// (counted within the dataset) on, and continue in the following frames. Or they lie in the part's
/// skeleton from `skeleton_position` on; an entry for skeleton bytes takes two or three bytes on
/// disk, because skeletons fill the gaps between fragments.
struct MapEntry {
  static constexpr std::uint32_t skeleton = 0xffffffff;  ///< used in place of a dataset's number
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

/// Appends the part's pages and then its page table to the index; returns the table's place.
TablePlace write_part_map(const PartEntry& part, Bytes& index);

Result<std::vector<MapPage>> read_page_table(ByteSpan bytes, const PartRecord& part,
                                             std::uint64_t index_bytes);
/// Returns the entries of one page. Together they cover exactly the bytes up to the next page's
/// first offset, or to the part's end.
Result<std::vector<MapEntry>> read_map_page(ByteSpan bytes, const MapPage& page,
                                            std::uint64_t part_bytes_covered,
                                            std::uint64_t skeleton_bytes,
                                            std::uint64_t dataset_count);

}  // namespace mcr::restart
