// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/index.hpp"

#include <algorithm>
#include <limits>

#include "codecs/base/checksum.hpp"

namespace mcr::restart {
namespace {

/// Appends a table of records of one size; `write_record(i, writer)` writes record `i`.
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

// Bounds on the bytes of a part's record: each number takes at least one byte, and at most ten.
constexpr std::uint64_t least_part_bytes = 16 + 1 + 1 + 1 + 8 + 1 + 1 + 1 + 4 + 3 + 8;
constexpr std::uint64_t most_part_bytes = 16 + 8 + 4 + 8 + 10 * 10 + max_text_bytes;

Result<PartId> read_part_id(Reader& in) {
  PartId id;
  const ByteSpan bytes = MCR_TRY(in.bytes(id.bytes.size()));
  std::transform(bytes.begin(), bytes.end(), id.bytes.begin(),
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return id;
}

constexpr std::uint64_t drifted_flag = 1;
/// The flags divided by this: 1 + steps_up, or 0 if `steps_up` is missing.
constexpr std::uint64_t steps_unit = 2;
/// A path has at most as many components.
constexpr std::uint64_t most_steps_up = 2048;

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
  const std::uint64_t steps = set.steps_up ? (*set.steps_up + std::uint64_t{1}) * steps_unit : 0;
  out.varint(steps + (set.drifted ? drifted_flag : 0));
  out.varint(set.natives.size());
  for (const NativeMember& native : set.natives) {
    out.varint(native.rank);
    out.text(native.path);
    out.varint(native.device);
    out.varint(native.inode);
    out.varint(native.size);
  }
  out.u64(set.order_ns);
  const bool is_amendment = !set.amended_by.empty();
  if (set.bundled.empty() && !set.failed_attempts && !is_amendment) return;
  out.varint(set.bundled.size());
  for (const BundledSet& bundled : set.bundled) {
    out.text(bundled.masked_name);
    out.varint(bundled.sequence);
    out.u64(bundled.begun_ns);
    out.u64(bundled.order_ns);
  }
  if (!set.failed_attempts && !is_amendment) return;
  const FailedAttempts failed = set.failed_attempts.value_or(FailedAttempts());
  out.varint(failed.least);
  out.varint(failed.greatest);
  if (is_amendment) out.text(set.amended_by);
}

/// Reads a list of ranks of the set. The list has at most `rank_count` entries, and entries that are
/// no rank of the set are left out: they would only cost memory.
Result<std::vector<std::uint32_t>> read_ranks(Reader& in, std::uint32_t rank_count,
                                              const char* what) {
  constexpr std::uint64_t max_rank = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t limit = std::min<std::uint64_t>(in.remaining(), rank_count);
  const std::uint64_t count = MCR_TRY(in.varint_at_most(limit, what));
  std::vector<std::uint32_t> ranks;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t rank = MCR_TRY(in.varint_at_most(max_rank, "rank"));
    if (rank < rank_count) ranks.push_back(static_cast<std::uint32_t>(rank));
  }
  return ranks;
}

/// Reads the fields at the end, which containers of the first builds lack.
Result<void> read_later_fields(Reader& in, SetIdentity& set) {
  constexpr std::uint64_t max_rank = std::numeric_limits<std::uint32_t>::max();
  if (in.remaining() == 0) return {};
  set.begun_ns = MCR_TRY(in.u64());
  set.failed_ranks = MCR_TRY(read_ranks(in, set.rank_count, "failed ranks"));
  const std::uint64_t flags = MCR_TRY(in.varint());
  set.drifted = (flags & drifted_flag) != 0;
  if (const std::uint64_t steps = flags / steps_unit; steps > 0 && steps <= most_steps_up + 1)
    set.steps_up = static_cast<std::uint32_t>(steps - 1);
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
  if (in.remaining() > 0) set.order_ns = MCR_TRY(in.u64());
  if (in.remaining() == 0) return {};
  const std::uint64_t bundled = MCR_TRY(in.varint_at_most(in.remaining(), "bundled sets"));
  for (std::uint64_t i = 0; i < bundled; ++i) {
    BundledSet one;
    one.masked_name = MCR_TRY(in.text(max_text_bytes));
    one.sequence = MCR_TRY(in.varint());
    one.begun_ns = MCR_TRY(in.u64());
    one.order_ns = MCR_TRY(in.u64());
    set.bundled.push_back(std::move(one));
  }
  if (in.remaining() == 0) return {};
  FailedAttempts failed;
  failed.least = MCR_TRY(in.varint());
  failed.greatest = MCR_TRY(in.varint());
  if (in.remaining() > 0) set.amended_by = MCR_TRY(in.text(max_word_bytes));
  if (set.amended_by.empty()) set.failed_attempts = failed;
  return {};
}

Result<SetIdentity> read_set(Reader& in) {
  constexpr std::uint64_t max_rank = std::numeric_limits<std::uint32_t>::max();
  SetIdentity set;
  set.masked_name = MCR_TRY(in.text(max_text_bytes));
  set.launch = MCR_TRY(in.text(max_word_bytes));
  set.sequence = MCR_TRY(in.varint());
  set.rank_count = static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_rank, "rank count")));
  set.passed_ranks = MCR_TRY(read_ranks(in, set.rank_count, "passed ranks"));
  set.scheme = MCR_TRY(in.text(max_word_bytes));
  set.profile = MCR_TRY(in.text(max_word_bytes));
  set.writer = MCR_TRY(in.text(max_word_bytes));
  set.created_ns = MCR_TRY(in.u64());
  MCR_TRY(read_later_fields(in, set));
  return set;
}

Result<void> check_table_bytes(const RecordPages& pages, const TablePlace& place,
                               const char* what) {
  if (pages.table_bytes(place.count) == place.bytes) return {};
  return damaged_index(std::string(what) + ": " + std::to_string(place.bytes) + " bytes for " +
                       std::to_string(place.count) + " records");
}

}  // namespace

IndexBytes write_index(const Index& index) {
  // The directory comes first and contains the places of all other tables, in numbers of varying
  // length. So the tables are laid out first, as if they began at 0; then all places are shifted by
  // the length that is reserved for the directory.
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

UserBlock user_block_of(const IndexBytes& index, std::uint64_t offset) {
  UserBlock block;
  block.index_offset = offset;
  block.index_bytes = index.bytes.size();
  block.directory_bytes = index.directory_bytes;
  block.directory_checksum = index.directory_checksum;
  return block;
}

SetIdentity set_of_part(const SetIdentity& set, std::size_t part) {
  if (part >= set.bundled.size()) return set;
  const BundledSet& bundled = set.bundled[part];
  SetIdentity identity;
  identity.launch = set.launch;
  identity.scheme = set.scheme;
  identity.profile = set.profile;
  identity.writer = set.writer;
  identity.created_ns = set.created_ns;
  identity.masked_name = bundled.masked_name;
  identity.sequence = bundled.sequence;
  identity.begun_ns = bundled.begun_ns;
  identity.order_ns = bundled.order_ns;
  identity.steps_up = set.steps_up;
  return identity;
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
  if (directory.parts.count > directory.parts.bytes / least_part_bytes ||
      directory.parts.bytes > directory.parts.count * most_part_bytes) {
    return damaged_index("part table: " + std::to_string(directory.parts.bytes) + " bytes for " +
                         std::to_string(directory.parts.count) + " parts");
  }
  if (!directory.set.bundled.empty() && directory.set.bundled.size() != directory.parts.count)
    return damaged_index("a bundle with other sets than parts");
  if (directory.skeleton_dataset != IndexDirectory::no_dataset &&
      directory.skeleton_dataset >= directory.datasets.count) {
    return damaged_index("no such dataset of skeletons");
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
    return Error{Cause::unsupported,
                 "the index has a dataset of a kind that this mcr does not know"};
  }
  entry.kind = static_cast<DatasetKind>(kind);
  entry.storage = static_cast<DatasetStorage>(storage);
  if (entry.first_frame > directory.frames.count ||
      entry.frame_count > directory.frames.count - entry.first_frame) {
    return damaged_index("dataset has frames that are not there");
  }
  if (entry.chunk_bytes == 0 || entry.chunk_bytes > DatasetEntry::max_chunk_bytes ||
      entry.element_bytes == 0) {
    return damaged_index("chunk or element size out of bounds");
  }
  if (result.name_offset > directory.names.bytes ||
      result.name_bytes > directory.names.bytes - result.name_offset ||
      result.name_bytes > max_text_bytes) {
    return damaged_index("dataset's name is not there");
  }
  return result;
}

Result<std::string> read_dataset_name(ByteSpan name, const DatasetRecord& record) {
  if (name.size() != record.name_bytes ||
      static_cast<std::uint32_t>(checksum(name)) != record.name_checksum) {
    return damaged_index("dataset's name does not match its checksum");
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
    return damaged_index("frame lies behind the end of the file");
  }
  return place;
}

Result<std::vector<PartRecord>> read_part_table(ByteSpan bytes, const TablePlace& place,
                                                std::uint64_t index_bytes) {
  constexpr std::uint64_t max_32 = std::numeric_limits<std::uint32_t>::max();
  if (checksum(bytes) != place.checksum)
    return damaged_index("part table does not match its checksum");
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
      return damaged_index("skeleton refers to one that cannot be its base");
    }
  }
  return parts;
}

}  // namespace mcr::restart
