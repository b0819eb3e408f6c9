// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/index.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "codecs/base/checksum.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view magic{"mcr-container\r\n\x1a", 16};  // the 16th byte is 0
constexpr std::size_t user_block_record_bytes = 16 + 4 + 16 + 4 * 8;

// No name or path is longer: PATH_MAX is 4096, HDF5 puts no limit on its own names.
constexpr std::size_t max_text_bytes = 64 * 1024;
constexpr std::uint64_t max_records = std::uint64_t{1} << 40;

Error damaged(std::string message) { return {Cause::damaged, "index: " + std::move(message)}; }

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
/// `last` + the signed difference that `stored` says, wrapping: what comes out is checked by
/// bounds.
std::uint32_t add_zigzag(std::uint32_t last, std::uint64_t stored) {
  const std::uint64_t difference = (stored >> 1) ^ (0 - (stored & 1));
  return static_cast<std::uint32_t>(last + difference);
}
std::uint64_t difference(std::uint32_t from, std::uint32_t to) {
  return zigzag(static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from));
}

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

/// A table of records of one size, which `write_record(i, writer)` appends.
template <typename WriteRecord>
TablePlace write_pages(const RecordPages& pages, std::uint64_t count, Bytes& out,
                       const WriteRecord& write_record) {
  TablePlace place{out.size(), 0, count, 0};
  Writer writer(out);
  for (std::uint64_t page = 0; page < pages.page_count(count); ++page) {
    const std::size_t begin = out.size();
    writer.u32(pages.table);
    writer.u32(static_cast<std::uint32_t>(page));
    const std::uint64_t first = page * pages.records_per_page;
    const std::uint64_t end = std::min<std::uint64_t>(count, first + pages.records_per_page);
    for (std::uint64_t i = first; i < end; ++i) write_record(i, writer);
    writer.u64(checksum(std::span(out).subspan(begin)));
  }
  place.bytes = out.size() - place.offset;
  return place;
}

/// Low two bits of an entry's first number; the others are its length.
enum EntryKind : std::uint64_t {
  explicit_place =
      0,  ///< dataset, frame, offset follow, each as a difference to the last such entry's
  in_skeleton = 1,  ///< where the last one of this kind ended
  going_on = 2,     ///< dataset follows; in the frame where its last entry ended, right behind that
};

/// Where the entries of a page left each dataset: what `going_on` refers to.
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
  /// Null where the page has not named the dataset, or its last entry is too long.
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

/// The part's pages, then its page table; gives the table's place.
TablePlace write_part_map(const PartEntry& part, Bytes& out) {
  std::vector<MapPage> pages;
  std::uint64_t part_offset = 0;
  const std::span<const MapEntry> all(part.map);
  for (std::size_t begin = 0; begin < all.size(); begin += MapEntry::per_page) {
    const auto entries = all.subspan(begin, std::min(MapEntry::per_page, all.size() - begin));
    MapPage page{part_offset, {out.size(), 0, entries.size(), 0}};
    Writer writer(out);
    write_map_page(entries, writer);
    page.place.bytes = out.size() - page.place.offset;
    page.place.checksum =
        checksum(std::span(out).subspan(static_cast<std::size_t>(page.place.offset)));
    for (const MapEntry& entry : entries) part_offset += entry.length;
    pages.push_back(page);
  }
  TablePlace table{out.size(), 0, pages.size(), 0};
  Writer writer(out);
  for (const MapPage& page : pages) {
    writer.varint(page.first_part_offset);
    write_place(page.place, writer);
  }
  table.bytes = out.size() - table.offset;
  table.checksum = checksum(std::span(out).subspan(static_cast<std::size_t>(table.offset)));
  return table;
}

void write_part(const PartEntry& part, const TablePlace& page_table, Writer& out) {
  out.bytes(std::as_bytes(std::span(part.part.bytes)));
  out.varint(part.rank);
  out.text(part.path);
  out.varint(part.size);
  out.u64(part.checksum);
  out.varint(part.mode);
  out.varint(part.skeleton.begin);
  out.varint(part.skeleton.bytes);
  out.u32(part.skeleton.base);
  write_place(page_table, out);
}

Result<PartId> read_part_id(Reader& in) {
  PartId id;
  const ByteSpan bytes = MCR_TRY(in.bytes(id.bytes.size()));
  std::transform(bytes.begin(), bytes.end(), id.bytes.begin(),
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return id;
}

constexpr std::uint64_t drifted_flag = 1;

void write_set(const SetIdentity& set, Writer& out) {
  out.text(set.masked_name);
  out.text(set.launch);
  out.varint(set.sequence);
  out.varint(set.rank_count);
  out.varint(set.passed_ranks.size());
  for (const std::uint32_t rank : set.passed_ranks) out.varint(rank);
  out.text(set.scheme);
  out.text(set.profile);
  out.text(set.writer);
  out.u64(set.created_ns);
  out.u64(set.begun_ns);
  out.varint(set.failed_ranks.size());
  for (const std::uint32_t rank : set.failed_ranks) out.varint(rank);
  out.varint(set.drifted ? drifted_flag : 0);
  out.varint(set.natives.size());
  for (const NativeMember& native : set.natives) {
    out.varint(native.rank);
    out.text(native.path);
    out.varint(native.device);
    out.varint(native.inode);
    out.varint(native.size);
  }
}

/// The fields that were added behind those of the first builds.
Result<void> read_later_fields(Reader& in, SetIdentity& set) {
  constexpr std::uint64_t max_rank = std::numeric_limits<std::uint32_t>::max();
  if (in.remaining() == 0) return {};
  set.begun_ns = MCR_TRY(in.u64());
  const std::uint64_t failed = MCR_TRY(in.varint_at_most(in.remaining(), "failed ranks"));
  for (std::uint64_t i = 0; i < failed; ++i) {
    set.failed_ranks.push_back(
        static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_rank, "rank"))));
  }
  set.drifted = (MCR_TRY(in.varint()) & drifted_flag) != 0;
  const std::uint64_t natives = MCR_TRY(in.varint_at_most(in.remaining(), "native members"));
  for (std::uint64_t i = 0; i < natives; ++i) {
    NativeMember native;
    native.rank = static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_rank, "rank")));
    native.path = MCR_TRY(in.text(max_text_bytes));
    native.device = MCR_TRY(in.varint());
    native.inode = MCR_TRY(in.varint());
    native.size = MCR_TRY(in.varint());
    set.natives.push_back(std::move(native));
  }
  return {};
}

Result<SetIdentity> read_set(Reader& in) {
  constexpr std::uint64_t max_rank = std::numeric_limits<std::uint32_t>::max();
  SetIdentity set;
  set.masked_name = MCR_TRY(in.text(max_text_bytes));
  set.launch = MCR_TRY(in.text(max_text_bytes));
  set.sequence = MCR_TRY(in.varint());
  set.rank_count = static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_rank, "rank count")));
  const std::uint64_t passed = MCR_TRY(in.varint_at_most(in.remaining(), "passed ranks"));
  for (std::uint64_t i = 0; i < passed; ++i) {
    set.passed_ranks.push_back(
        static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_rank, "rank"))));
  }
  set.scheme = MCR_TRY(in.text(max_text_bytes));
  set.profile = MCR_TRY(in.text(max_text_bytes));
  set.writer = MCR_TRY(in.text(max_text_bytes));
  set.created_ns = MCR_TRY(in.u64());
  MCR_TRY(read_later_fields(in, set));
  return set;
}

Result<void> check_table_bytes(const RecordPages& pages, const TablePlace& place,
                               const char* what) {
  if (pages.table_bytes(place.count) == place.bytes) return {};
  return damaged(std::string(what) + ": " + std::to_string(place.bytes) + " bytes for " +
                 std::to_string(place.count) + " records");
}

}  // namespace

Bytes write_user_block(const UserBlock& block) {
  Bytes out;
  Writer writer(out);
  writer.bytes(as_bytes(magic));
  writer.u32(container_version);
  writer.bytes(std::as_bytes(std::span(block.uuid)));
  writer.u64(block.index_offset);
  writer.u64(block.index_bytes);
  writer.u64(block.directory_bytes);
  writer.u64(block.directory_checksum);
  writer.u64(checksum(out));
  out.resize(UserBlock::bytes);
  return out;
}

Result<UserBlock> read_user_block(ByteSpan file_head) {
  Reader in(file_head);
  const auto begin = in.bytes(magic.size());
  if (!begin || as_text(*begin) != magic) {
    return Error{Cause::damaged, "is no container: it does not begin as one"};
  }
  const std::uint32_t version = MCR_TRY(in.u32());
  UserBlock block;
  const ByteSpan uuid = MCR_TRY(in.bytes(block.uuid.size()));
  std::transform(uuid.begin(), uuid.end(), block.uuid.begin(),
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  block.index_offset = MCR_TRY(in.u64());
  block.index_bytes = MCR_TRY(in.u64());
  block.directory_bytes = MCR_TRY(in.u64());
  block.directory_checksum = MCR_TRY(in.u64());
  if (MCR_TRY(in.u64()) != checksum(file_head.first(user_block_record_bytes))) {
    return Error{Cause::damaged, "user block does not match its checksum"};
  }
  if (version == 0 || version > container_version) {
    return Error{Cause::unsupported, "container of format version " + std::to_string(version) +
                                         "; this mcr reads up to " +
                                         std::to_string(container_version) + ": use a newer one"};
  }
  if (block.directory_bytes > block.index_bytes ||
      block.directory_bytes > IndexDirectory::max_bytes) {
    return damaged("directory longer than it may be");
  }
  MCR_TRY(checked_add(block.index_offset, block.index_bytes));
  return block;
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
  if (page_bytes.size() < 16) return damaged("page ends too early");
  Reader in(page_bytes);
  const std::uint32_t stored_table = MCR_TRY(in.u32());
  const std::uint32_t stored_page = MCR_TRY(in.u32());
  const ByteSpan records = MCR_TRY(in.bytes(page_bytes.size() - 16));
  if (MCR_TRY(in.u64()) != checksum(page_bytes.first(page_bytes.size() - 8)) ||
      stored_table != table || stored_page != page) {
    return damaged("page " + std::to_string(page) + " of table " + std::to_string(table) +
                   " does not match its checksum");
  }
  return records;
}

IndexBytes write_index(const Index& index) {
  // The directory comes first and says where the rest is, with numbers of varying length: the rest
  // is laid out first, as if it began at 0, and places are moved by the directory's reserved
  // length.
  Bytes names;
  std::vector<std::uint32_t> name_begin;
  IndexDirectory directory;
  directory.set = index.set;
  for (std::size_t i = 0; i < index.datasets.size(); ++i) {
    name_begin.push_back(static_cast<std::uint32_t>(names.size()));
    Writer(names).bytes(as_bytes(index.datasets[i].name));
    if (index.datasets[i].kind == DatasetKind::skeletons) {
      directory.skeleton_dataset = static_cast<std::uint32_t>(i);
    }
  }

  Bytes set_bytes;
  Writer set_writer(set_bytes);
  write_set(directory.set, set_writer);
  constexpr std::size_t most_of_places = 4 * (3 * 10 + 8);
  const std::size_t directory_bytes = 4 + 4 + set_bytes.size() + most_of_places;

  IndexBytes result;
  Bytes& out = result.bytes;
  out.resize(directory_bytes);
  directory.datasets =
      write_pages(dataset_pages, index.datasets.size(), out, [&](std::uint64_t i, Writer& writer) {
        const DatasetEntry& entry = index.datasets[i];
        writer.u64(entry.raw_bytes);
        writer.u64(entry.first_frame);
        writer.u32(entry.frame_count);
        writer.u32(entry.chunk_bytes);
        writer.u32(entry.element_bytes);
        writer.u32(name_begin[i]);
        writer.u32(static_cast<std::uint32_t>(entry.name.size()));
        writer.u32(static_cast<std::uint32_t>(checksum(as_bytes(entry.name))));
        writer.u8(static_cast<std::uint8_t>(entry.kind));
        writer.u8(static_cast<std::uint8_t>(entry.storage));
        writer.u16(0);
      });
  directory.frames =
      write_pages(frame_pages, index.frames.size(), out, [&](std::uint64_t i, Writer& writer) {
        const FramePlace& frame = index.frames[i];
        writer.u64(frame.file_offset);
        writer.u32(frame.stored_bytes);
        writer.u32(frame.raw_bytes);
        writer.u64(frame.checksum);
      });
  directory.names = {out.size(), names.size(), index.datasets.size(), 0};
  out.insert(out.end(), names.begin(), names.end());
  std::vector<TablePlace> page_tables;
  for (const PartEntry& part : index.parts) page_tables.push_back(write_part_map(part, out));
  directory.parts = {out.size(), 0, index.parts.size(), 0};
  Writer writer(out);
  for (std::size_t i = 0; i < index.parts.size(); ++i) {
    write_part(index.parts[i], page_tables[i], writer);
  }
  directory.parts.bytes = out.size() - directory.parts.offset;
  directory.parts.checksum =
      checksum(std::span(out).subspan(static_cast<std::size_t>(directory.parts.offset)));

  Bytes head;
  Writer head_writer(head);
  head_writer.u32(static_cast<std::uint32_t>(set_bytes.size()));
  head_writer.bytes(set_bytes);
  head_writer.u32(directory.skeleton_dataset);
  for (const TablePlace& place :
       {directory.datasets, directory.frames, directory.names, directory.parts}) {
    write_place(place, head_writer);
  }
  head.resize(directory_bytes);
  std::copy(head.begin(), head.end(), out.begin());
  result.directory_bytes = directory_bytes;
  result.directory_checksum = checksum(head);
  return result;
}

Result<IndexDirectory> read_index_directory(ByteSpan bytes, std::uint64_t index_bytes) {
  Reader in(bytes);
  IndexDirectory directory;
  const std::uint32_t set_bytes = MCR_TRY(in.u32());
  Reader set_in(MCR_TRY(in.bytes(set_bytes)));
  directory.set = MCR_TRY(read_set(set_in));
  directory.skeleton_dataset = MCR_TRY(in.u32());
  for (TablePlace* place :
       {&directory.datasets, &directory.frames, &directory.names, &directory.parts}) {
    *place = MCR_TRY(read_place(in, index_bytes));
  }
  MCR_TRY(check_table_bytes(dataset_pages, directory.datasets, "dataset table"));
  MCR_TRY(check_table_bytes(frame_pages, directory.frames, "frame table"));
  if (directory.parts.count > directory.parts.bytes) return damaged("more parts than bytes");
  if (directory.skeleton_dataset != IndexDirectory::no_dataset &&
      directory.skeleton_dataset >= directory.datasets.count) {
    return damaged("no such dataset of skeletons");
  }
  return directory;
}

Result<DatasetRecord> read_dataset_record(ByteSpan record, const IndexDirectory& directory) {
  Reader in(record);
  DatasetRecord result;
  DatasetEntry& entry = result.entry;
  entry.raw_bytes = MCR_TRY(in.u64());
  entry.first_frame = MCR_TRY(in.u64());
  entry.frame_count = MCR_TRY(in.u32());
  entry.chunk_bytes = MCR_TRY(in.u32());
  entry.element_bytes = MCR_TRY(in.u32());
  result.name_offset = MCR_TRY(in.u32());
  result.name_bytes = MCR_TRY(in.u32());
  result.name_checksum = MCR_TRY(in.u32());
  const std::uint8_t kind = MCR_TRY(in.u8());
  const std::uint8_t storage = MCR_TRY(in.u8());
  MCR_TRY(in.u16());
  if (kind > static_cast<std::uint8_t>(DatasetKind::batch) ||
      storage > static_cast<std::uint8_t>(DatasetStorage::deflate)) {
    return Error{Cause::unsupported, "index: dataset of a kind that this mcr does not know"};
  }
  entry.kind = static_cast<DatasetKind>(kind);
  entry.storage = static_cast<DatasetStorage>(storage);
  if (entry.first_frame > directory.frames.count ||
      entry.frame_count > directory.frames.count - entry.first_frame) {
    return damaged("dataset has frames that are not there");
  }
  if (entry.chunk_bytes == 0 || entry.chunk_bytes > DatasetEntry::max_chunk_bytes ||
      entry.element_bytes == 0) {
    return damaged("chunk or element size out of bounds");
  }
  if (result.name_offset > directory.names.bytes ||
      result.name_bytes > directory.names.bytes - result.name_offset ||
      result.name_bytes > max_text_bytes) {
    return damaged("dataset's name is not there");
  }
  return result;
}

Result<std::string> read_dataset_name(ByteSpan name, const DatasetRecord& record) {
  if (name.size() != record.name_bytes ||
      static_cast<std::uint32_t>(checksum(name)) != record.name_checksum) {
    return damaged("dataset's name does not match its checksum");
  }
  return std::string(as_text(name));
}

Result<FramePlace> read_frame_place(ByteSpan record, std::uint64_t file_bytes) {
  Reader in(record);
  FramePlace place;
  place.file_offset = MCR_TRY(in.u64());
  place.stored_bytes = MCR_TRY(in.u32());
  place.raw_bytes = MCR_TRY(in.u32());
  place.checksum = MCR_TRY(in.u64());
  if (place.file_offset > file_bytes || place.stored_bytes > file_bytes - place.file_offset) {
    return damaged("frame lies behind the end of the file");
  }
  return place;
}

Result<std::vector<PartRecord>> read_part_table(ByteSpan bytes, const TablePlace& place,
                                                std::uint64_t index_bytes) {
  constexpr std::uint64_t max_32 = std::numeric_limits<std::uint32_t>::max();
  if (checksum(bytes) != place.checksum) return damaged("part table does not match its checksum");
  Reader in(bytes);
  std::vector<PartRecord> parts;
  for (std::uint64_t i = 0; i < place.count; ++i) {
    PartRecord part;
    PartEntry& entry = part.entry;
    entry.part = MCR_TRY(read_part_id(in));
    entry.rank = static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_32, "rank")));
    entry.path = MCR_TRY(in.text(max_text_bytes));
    entry.size = MCR_TRY(in.varint_at_most(std::numeric_limits<std::int64_t>::max(), "part size"));
    entry.checksum = MCR_TRY(in.u64());
    entry.mode = static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_32, "mode")));
    entry.skeleton.begin = MCR_TRY(in.varint());
    entry.skeleton.bytes = MCR_TRY(in.varint_at_most(entry.size, "skeleton size"));
    MCR_TRY(checked_add(entry.skeleton.begin, entry.skeleton.bytes));
    entry.skeleton.base = MCR_TRY(in.u32());
    part.page_table = MCR_TRY(read_place(in, index_bytes));
    parts.push_back(std::move(part));
  }
  for (const PartRecord& part : parts) {
    const std::uint32_t base = part.entry.skeleton.base;
    if (base == SkeletonPlace::no_base) continue;
    if (base >= parts.size() || parts[base].entry.skeleton.base != SkeletonPlace::no_base) {
      return damaged("skeleton refers to one that cannot be its base");
    }
  }
  return parts;
}

Result<std::vector<MapPage>> read_page_table(ByteSpan bytes, const PartRecord& part,
                                             std::uint64_t index_bytes) {
  const TablePlace& place = part.page_table;
  if (checksum(bytes) != place.checksum) return damaged("page table does not match its checksum");
  if (place.count > bytes.size()) return damaged("more pages than bytes");
  Reader in(bytes);
  std::vector<MapPage> pages;
  for (std::uint64_t i = 0; i < place.count; ++i) {
    MapPage page;
    page.first_part_offset = MCR_TRY(in.varint_at_most(part.entry.size, "part offset"));
    page.place = MCR_TRY(read_place(in, index_bytes));
    const bool rises = pages.empty() ? page.first_part_offset == 0
                                     : page.first_part_offset > pages.back().first_part_offset;
    if (!rises || page.place.count > MapEntry::per_page) return damaged("page table out of order");
    pages.push_back(page);
  }
  if (pages.empty() && part.entry.size != 0) return damaged("part without a map");
  return pages;
}

Result<std::vector<MapEntry>> read_map_page(ByteSpan bytes, const MapPage& page,
                                            std::uint64_t part_bytes_covered,
                                            std::uint64_t skeleton_bytes,
                                            std::uint64_t dataset_count) {
  if (checksum(bytes) != page.place.checksum)
    return damaged("map page does not match its checksum");
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
    if (entry.length == 0 || entry.length > left) return damaged("map entry out of bounds");
    left -= entry.length;
    if (head % 4 == in_skeleton) {
      if (entry.length > skeleton_bytes - skeleton_position) {
        return damaged("skeleton is shorter than the map says");
      }
      entry.dataset = MapEntry::skeleton;
      entry.skeleton_position = skeleton_position;
      skeleton_position += entry.length;
    } else {
      entry.dataset = add_zigzag(last.dataset, MCR_TRY(in.varint()));
      if (entry.dataset >= dataset_count) return damaged("map entry of no dataset");
      if (head % 4 == explicit_place) {
        entry.frame = add_zigzag(last.frame, MCR_TRY(in.varint()));
        entry.frame_offset = add_zigzag(last.frame_offset, MCR_TRY(in.varint()));
      } else {
        const auto* end = head % 4 == going_on ? ends.find(entry.dataset) : nullptr;
        if (end == nullptr) return damaged("map entry goes on from nowhere");
        std::tie(entry.frame, entry.frame_offset) = *end;
      }
      last = entry;
      ends.set(entry);
    }
    entries.push_back(entry);
  }
  if (left != 0) return damaged("map page covers too little");
  return entries;
}

}  // namespace mcr::restart
