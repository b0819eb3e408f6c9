// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/part_map.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "codecs/base/checksum.hpp"
#include "restart/format/index.hpp"

namespace mcr::restart {
namespace {

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
/// Returns `last` plus the signed difference in `stored`. The sum may wrap around; callers check it
/// against bounds.
std::uint32_t add_zigzag(std::uint32_t last, std::uint64_t stored) {
  const std::uint64_t difference = (stored >> 1) ^ (0 - (stored & 1));
  return static_cast<std::uint32_t>(last + difference);
}
std::uint64_t difference(std::uint32_t from, std::uint32_t to) {
  return zigzag(static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from));
}

/// The low two bits of an entry's first number; the other bits are its length.
enum EntryKind : std::uint64_t {
  /// Dataset, frame and offset follow, each as the difference to the last entry of this kind.
  explicit_place = 0,
  in_skeleton = 1,  ///< the entry begins where the last entry of this kind ended
  /// Dataset follows; the entry begins where the last entry of this dataset ended, in the same
  /// frame.
  going_on = 2,
};

/// Where the last entry of each dataset in a page ended, for `going_on`.
class Ends {
 public:
  void set(const MapEntry& entry) {
    const std::uint64_t end = entry.frame_offset + entry.length;
    if (end > std::numeric_limits<std::uint32_t>::max()) {
      ends_.erase(entry.dataset);
    } else {
      ends_[entry.dataset] = {entry.frame, static_cast<std::uint32_t>(end)};
    }
  }
  /// Returns null if the page has no entry of the dataset yet, or if the end of the last entry is
  /// too large.
  [[nodiscard]] const std::pair<std::uint32_t, std::uint32_t>* find(std::uint32_t dataset) const {
    const auto found = ends_.find(dataset);
    return found == ends_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> ends_;  // frame, offset
};

void write_map_page(std::span<const MapEntry> entries, Writer& out) {
  MapEntry last;
  Ends ends;
  const auto first_of_skeleton =
      std::find_if(entries.begin(), entries.end(),
                   [](const MapEntry& entry) { return entry.dataset == MapEntry::skeleton; });
  out.varint(first_of_skeleton == entries.end() ? 0 : first_of_skeleton->skeleton_position);
  for (const MapEntry& entry : entries) {
    if (entry.dataset == MapEntry::skeleton) {
      out.varint(entry.length * 4 + in_skeleton);
      continue;
    }
    const auto* end = ends.find(entry.dataset);
    const bool goes_on = end != nullptr && *end == std::pair(entry.frame, entry.frame_offset);
    out.varint(entry.length * 4 + (goes_on ? going_on : explicit_place));
    out.varint(difference(last.dataset, entry.dataset));
    if (!goes_on) {
      out.varint(difference(last.frame, entry.frame));
      out.varint(difference(last.frame_offset, entry.frame_offset));
    }
    last = entry;
    ends.set(entry);
  }
}

}  // namespace

TablePlace write_part_map(const PartEntry& part, Bytes& index) {
  std::vector<MapPage> pages;
  std::uint64_t part_offset = 0;
  const std::span<const MapEntry> all(part.map);
  for (std::size_t begin = 0; begin < all.size(); begin += MapEntry::per_page) {
    const auto entries = all.subspan(begin, std::min(MapEntry::per_page, all.size() - begin));
    MapPage page{part_offset, {index.size(), 0, entries.size(), 0}};
    Writer writer(index);
    write_map_page(entries, writer);
    page.place.bytes = index.size() - page.place.offset;
    page.place.checksum =
        checksum(std::span(index).subspan(static_cast<std::size_t>(page.place.offset)));
    for (const MapEntry& entry : entries) part_offset += entry.length;
    pages.push_back(page);
  }
  TablePlace table{index.size(), 0, pages.size(), 0};
  Writer writer(index);
  for (const MapPage& page : pages) {
    writer.varint(page.first_part_offset);
    write_place(page.place, writer);
  }
  table.bytes = index.size() - table.offset;
  table.checksum = checksum(std::span(index).subspan(static_cast<std::size_t>(table.offset)));
  return table;
}

Result<std::vector<MapPage>> read_page_table(ByteSpan bytes, const PartRecord& part,
                                             std::uint64_t index_bytes) {
  const TablePlace& place = part.page_table;
  if (checksum(bytes) != place.checksum)
    return damaged_index("page table does not match its checksum");
  if (place.count > bytes.size()) return damaged_index("more pages than bytes");
  Reader in(bytes);
  std::vector<MapPage> pages;
  for (std::uint64_t i = 0; i < place.count; ++i) {
    MapPage page;
    page.first_part_offset = MCR_TRY(in.varint_at_most(part.entry.size, "part offset"));
    page.place = MCR_TRY(read_place(in, index_bytes));
    const bool rises = pages.empty() ? page.first_part_offset == 0
                                     : page.first_part_offset > pages.back().first_part_offset;
    if (!rises || page.place.count > MapEntry::per_page)
      return damaged_index("page table out of order");
    pages.push_back(page);
  }
  if (pages.empty() && part.entry.size != 0) return damaged_index("part without a map");
  return pages;
}

Result<std::vector<MapEntry>> read_map_page(ByteSpan bytes, const MapPage& page,
                                            std::uint64_t part_bytes_covered,
                                            std::uint64_t skeleton_bytes,
                                            std::uint64_t dataset_count) {
  if (checksum(bytes) != page.place.checksum)
    return damaged_index("map page does not match its checksum");
  Reader in(bytes);
  std::vector<MapEntry> entries;
  std::uint64_t skeleton_position = MCR_TRY(in.varint_at_most(skeleton_bytes, "skeleton position"));
  std::uint64_t left = part_bytes_covered;
  MapEntry last;
  Ends ends;
  for (std::uint64_t i = 0; i < page.place.count; ++i) {
    const std::uint64_t head = MCR_TRY(in.varint());
    MapEntry entry;
    entry.length = head / 4;
    if (entry.length == 0 || entry.length > left) return damaged_index("map entry out of bounds");
    left -= entry.length;
    if (head % 4 == in_skeleton) {
      if (entry.length > skeleton_bytes - skeleton_position) {
        return damaged_index("skeleton is shorter than the map says");
      }
      entry.dataset = MapEntry::skeleton;
      entry.skeleton_position = skeleton_position;
      skeleton_position += entry.length;
    } else {
      entry.dataset = add_zigzag(last.dataset, MCR_TRY(in.varint()));
      if (entry.dataset >= dataset_count) return damaged_index("map entry of no dataset");
      if (head % 4 == explicit_place) {
        entry.frame = add_zigzag(last.frame, MCR_TRY(in.varint()));
        entry.frame_offset = add_zigzag(last.frame_offset, MCR_TRY(in.varint()));
      } else {
        const auto* end = head % 4 == going_on ? ends.find(entry.dataset) : nullptr;
        if (end == nullptr) return damaged_index("map entry goes on from nowhere");
        std::tie(entry.frame, entry.frame_offset) = *end;
      }
      last = entry;
      ends.set(entry);
    }
    entries.push_back(entry);
  }
  if (left != 0) return damaged_index("map page covers too little");
  return entries;
}

}  // namespace mcr::restart
