// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/journal.hpp"

#include <utility>

#include "restart/format/record.hpp"

namespace mcr::restart {
namespace {

constexpr std::uint8_t begin_kind = 1;
constexpr std::uint8_t publish_kind = 2;
constexpr std::uint8_t content_kind = 3;
constexpr std::uint8_t journal_version = 1;

constexpr std::size_t max_name_bytes = 512;  // node, launch, presence
constexpr std::size_t max_settings_bytes = 16 * 1024;

enum PublishFlags : std::uint8_t {
  provisional_flag = 1,
  durable_flag = 2,
  native_flag = 4,
  shows_older_flag = 8,
  stub_is_placed_flag = 16
};

void write_part(Writer& writer, const PartId& part) {
  writer.bytes(std::as_bytes(std::span(part.bytes)));
}

Result<PartId> read_part(Reader& reader) {
  PartId part;
  const ByteSpan raw = MCR_TRY(reader.bytes(part.bytes.size()));
  std::memcpy(part.bytes.data(), raw.data(), raw.size());
  return part;
}

Result<std::uint32_t> read_u32(Reader& reader, const char* what) {
  return static_cast<std::uint32_t>(
      MCR_TRY(reader.varint_at_most(std::numeric_limits<std::uint32_t>::max(), what)));
}

Result<PartBegin> read_begin(ByteSpan payload) {
  Reader reader(payload);
  const std::uint8_t version = MCR_TRY(reader.u8());
  if (version != journal_version) {
    return Error{Cause::unsupported, "journal of version " + std::to_string(version) +
                                         "; this program reads version " +
                                         std::to_string(journal_version)};
  }
  PartBegin begin;
  begin.part = MCR_TRY(read_part(reader));
  begin.path_as_passed = MCR_TRY(reader.text(max_path_bytes));
  begin.path = MCR_TRY(reader.text(max_path_bytes));
  begin.directory_device = MCR_TRY(reader.varint());
  begin.directory_inode = MCR_TRY(reader.varint());
  begin.rank = MCR_TRY(read_u32(reader, "rank"));
  begin.rank_count = MCR_TRY(read_u32(reader, "number of ranks"));
  begin.local_rank_count = MCR_TRY(read_u32(reader, "number of ranks on the node"));
  begin.node = MCR_TRY(reader.text(max_name_bytes));
  begin.launch = MCR_TRY(reader.text(max_name_bytes));
  begin.sequence = MCR_TRY(reader.varint());
  const std::uint64_t count = MCR_TRY(reader.varint_at_most(max_masked_names, "masked names"));
  for (std::uint64_t i = 0; i < count; ++i) {
    begin.masked_names.push_back(MCR_TRY(reader.text(max_path_bytes)));
  }
  begin.presence = MCR_TRY(reader.text(max_name_bytes));
  begin.replaced = static_cast<Replaced>(MCR_TRY(
      reader.varint_at_most(static_cast<std::uint64_t>(Replaced::native_file), "replaced")));
  const std::uint64_t has_part = MCR_TRY(reader.varint_at_most(1, "replaced part"));
  if (has_part != 0) begin.replaced_part = MCR_TRY(read_part(reader));
  begin.mode = MCR_TRY(read_u32(reader, "mode"));
  begin.begin_ns = MCR_TRY(reader.varint());
  begin.settings = MCR_TRY(reader.text(max_settings_bytes));
  if (reader.remaining() > 0) begin.file_inode = MCR_TRY(reader.varint());
  const std::uint64_t failed = reader.remaining() > 0 ? MCR_TRY(reader.varint()) : 0;
  if (failed > 0) begin.failed_attempts = failed - 1;
  begin.is_by_untrusted_links =
      reader.remaining() > 0 && MCR_TRY(reader.varint_at_most(1, "untrusted links")) != 0;
  const std::uint64_t levels =
      reader.remaining() > 0
          ? MCR_TRY(reader.varint_at_most(max_directories_above, "directories above"))
          : 0;
  for (std::uint64_t i = 0; i < levels; ++i) {
    const dev_t device = MCR_TRY(reader.varint());
    begin.above.emplace_back(device, MCR_TRY(reader.varint()));
  }
  if (reader.remaining() > 0) begin.amended_by = MCR_TRY(reader.text(max_name_bytes));
  return begin;
}

Result<PartPublish> read_publish(ByteSpan payload) {
  Reader reader(payload);
  PartPublish publish;
  publish.size = MCR_TRY(reader.u64());
  publish.publish_ns = MCR_TRY(reader.u64());
  const std::uint8_t flags = MCR_TRY(reader.u8());
  publish.provisional = (flags & provisional_flag) != 0;
  publish.durable = (flags & durable_flag) != 0;
  if ((flags & native_flag) != 0) {
    PartPublish::NativeFile native;
    native.device = MCR_TRY(reader.u64());
    native.inode = MCR_TRY(reader.u64());
    publish.native = native;
  }
  if ((flags & shows_older_flag) != 0) {
    PartPublish::OlderFile older;
    older.device = MCR_TRY(reader.u64());
    older.inode = MCR_TRY(reader.u64());
    older.modified_ns = MCR_TRY(reader.u64());
    publish.shows_older = older;
  }
  publish.stub_is_placed = (flags & stub_is_placed_flag) != 0;
  return publish;
}

}  // namespace

Bytes write_begin(const PartBegin& begin) {
  Bytes payload;
  payload.reserve(1024);
  Writer writer(payload);
  writer.u8(journal_version);
  write_part(writer, begin.part);
  writer.text(begin.path_as_passed);
  writer.text(begin.path);
  writer.varint(begin.directory_device);
  writer.varint(begin.directory_inode);
  writer.varint(begin.rank);
  writer.varint(begin.rank_count);
  writer.varint(begin.local_rank_count);
  writer.text(begin.node);
  writer.text(begin.launch);
  writer.varint(begin.sequence);
  writer.varint(begin.masked_names.size());
  for (const std::string& name : begin.masked_names) writer.text(name);
  writer.text(begin.presence);
  writer.varint(static_cast<std::uint64_t>(begin.replaced));
  writer.varint(begin.replaced_part ? 1 : 0);
  if (begin.replaced_part) write_part(writer, *begin.replaced_part);
  writer.varint(begin.mode);
  writer.varint(begin.begin_ns);
  writer.text(begin.settings);
  writer.varint(begin.file_inode);
  writer.varint(begin.failed_attempts ? *begin.failed_attempts + 1 : 0);
  writer.varint(begin.is_by_untrusted_links ? 1 : 0);
  writer.varint(begin.above.size());
  for (const FileIdentity& directory : begin.above) {
    writer.varint(directory.device);
    writer.varint(directory.inode);
  }
  writer.text(begin.amended_by);
  return write_record(begin_kind, payload);
}

Bytes write_content(ByteSpan content) { return write_record(content_kind, content); }

Bytes write_publish(const PartPublish& publish) {
  Bytes payload;
  Writer writer(payload);
  writer.u64(publish.size);
  writer.u64(publish.publish_ns);
  writer.u8(static_cast<std::uint8_t>(
      (publish.provisional ? provisional_flag : 0) | (publish.durable ? durable_flag : 0) |
      (publish.native ? native_flag : 0) | (publish.shows_older ? shows_older_flag : 0) |
      (publish.stub_is_placed ? stub_is_placed_flag : 0)));
  if (publish.native) {
    writer.u64(publish.native->device);
    writer.u64(publish.native->inode);
  }
  if (publish.shows_older) {
    writer.u64(publish.shows_older->device);
    writer.u64(publish.shows_older->inode);
    writer.u64(publish.shows_older->modified_ns);
  }
  return write_record(publish_kind, payload);
}

Result<Journal> read_journal(ByteSpan file) {
  RecordReader records(file);
  const auto first = records.next();
  if (!first || first->kind != begin_kind) {
    return Error{Cause::damaged, "the journal has no whole begin record"};
  }
  Journal journal;
  journal.begin = MCR_TRY(read_begin(first->payload));
  while (const auto record = records.next()) {
    // Records of kinds that this version does not know are skipped.
    if (record->kind == publish_kind) journal.publish = MCR_TRY(read_publish(record->payload));
  }
  return journal;
}

namespace {
std::optional<ByteSpan> last_of(std::uint8_t kind, ByteSpan file) {
  std::optional<ByteSpan> payload;
  RecordReader records(file);
  while (const auto record = records.next()) {
    if (record->kind == kind) payload = record->payload;
  }
  return payload;
}
}  // namespace

bool has_publish(ByteSpan file) { return last_of(publish_kind, file).has_value(); }
std::optional<ByteSpan> read_content(ByteSpan file) { return last_of(content_kind, file); }

}  // namespace mcr::restart
