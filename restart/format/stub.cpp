// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/stub.hpp"

#include <algorithm>
#include <cstring>

#include "codecs/base/checksum.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::restart {
namespace {

/// HDF5's signature with a superblock version that does not exist. So netCDF and `file` recognise
/// HDF5, the native open fails, and HDF5 goes on to look for a connector that can read the file.
constexpr std::string_view signature =
    "\x89HDF\r\n\x1a\n\xff"
    "mcr-stub";
constexpr std::uint8_t stub_version = 1;

constexpr std::size_t max_masks = 16;
constexpr std::size_t max_path = 8192;
constexpr std::size_t max_name = 512;
constexpr std::size_t max_record = 48 * 1024;

Bytes write_record_of(const Stub& stub, std::size_t mask_count) {
  Bytes record;
  Writer writer(record);
  writer.bytes(std::as_bytes(std::span(stub.part.bytes)));
  writer.text(stub.launch);
  writer.varint(stub.sequence);
  writer.varint(stub.rank);
  writer.varint(stub.rank_count);
  writer.text(stub.node);
  writer.varint(mask_count);
  for (std::size_t i = 0; i < mask_count; ++i) writer.text(stub.masked_names[i]);
  writer.text(stub.container_directory);
  writer.text(stub.launch_directory);
  writer.text(stub.path);
  return record;
}

std::string text_for_people(const Stub& stub) {
  std::string text =
      "\n\nThis small file stands for an HDF5 file. mcr keeps the data of that file in a "
      "container, together\nwith the data of the job's other ranks. A copy of this small file is "
      "no copy of the data.\n\n";
  text += "  file       " + stub.path + "\n";
  text +=
      "  rank       " + std::to_string(stub.rank) + " of " + std::to_string(stub.rank_count) + "\n";
  if (!stub.masked_names.empty()) {
    const ContainerName name = container_name(stub.masked_names.front(), stub.container_directory,
                                              stub.launch, stub.sequence);
    text += "  container  " + name.directory + "/" + name.prefix + "*.h5\n";
    if (stub.rank_count == 1) {
      text +=
          "             or, together with other files, " +
          bundle_name(stub.masked_names.front(), stub.container_directory, stub.launch, stub.part)
              .prefix +
          "*.h5\n";
    }
  }
  text +=
      "\nHDF5 programs read the file by this path if HDF5_PLUGIN_PATH has the directory of mcr's "
      "plugin\n(`mcr doctor` says which). To write the plain file (without --rank: the files of "
      "all ranks), type\n\n  mcr unpack THIS-FILE --rank " +
      std::to_string(stub.rank) + " -d DIRECTORY\n";
  return text;
}

}  // namespace

Bytes write_stub(const Stub& stub) {
  std::size_t mask_count = std::min(stub.masked_names.size(), max_masks);
  Bytes record = write_record_of(stub, mask_count);
  while (record.size() > max_record && mask_count > 0) {
    record = write_record_of(stub, --mask_count);
  }
  Bytes file;
  Writer writer(file);
  writer.bytes(as_bytes(signature));
  writer.u8(stub_version);
  writer.u32(static_cast<std::uint32_t>(record.size()));
  writer.bytes(record);
  writer.u64(checksum(file));
  const std::string text = text_for_people(stub);
  if (file.size() + text.size() <= Stub::max_bytes) writer.bytes(as_bytes(text));
  return file;
}

bool looks_like_stub(ByteSpan head) { return as_text(head).starts_with(signature); }

Result<Stub> read_stub(ByteSpan file) {
  if (!looks_like_stub(file)) return Error{Cause::damaged, "the file is not a stub of mcr"};
  Reader reader(file.subspan(signature.size()));
  const std::uint8_t version = MCR_TRY(reader.u8());
  if (version != stub_version) {
    return Error{Cause::unsupported, "stub of version " + std::to_string(version) +
                                         ": a newer mcr wrote it; this one reads version " +
                                         std::to_string(stub_version)};
  }
  const std::uint32_t length = MCR_TRY(reader.u32());
  if (length > max_record) return Error{Cause::damaged, "the stub's record is too long"};
  const ByteSpan raw = MCR_TRY(reader.bytes(length));
  const std::size_t summed = signature.size() + reader.position();
  if (MCR_TRY(reader.u64()) != checksum(file.first(summed))) {
    return Error{Cause::damaged, "the stub was altered: its checksum does not match"};
  }
  Reader record(raw);
  Stub stub;
  const ByteSpan id = MCR_TRY(record.bytes(stub.part.bytes.size()));
  std::memcpy(stub.part.bytes.data(), id.data(), id.size());
  constexpr std::uint64_t u32_limit = std::numeric_limits<std::uint32_t>::max();
  stub.launch = MCR_TRY(record.text(max_name));
  stub.sequence = MCR_TRY(record.varint());
  stub.rank = static_cast<std::uint32_t>(MCR_TRY(record.varint_at_most(u32_limit, "rank")));
  stub.rank_count =
      static_cast<std::uint32_t>(MCR_TRY(record.varint_at_most(u32_limit, "number of ranks")));
  stub.node = MCR_TRY(record.text(max_name));
  const std::uint64_t mask_count = MCR_TRY(record.varint_at_most(max_masks, "masked names"));
  for (std::uint64_t i = 0; i < mask_count; ++i) {
    stub.masked_names.push_back(MCR_TRY(record.text(max_path)));
  }
  stub.container_directory = MCR_TRY(record.text(max_path));
  stub.launch_directory = MCR_TRY(record.text(max_path));
  stub.path = MCR_TRY(record.text(max_path));
  const std::size_t text = signature.size() + reader.position();
  if (text < file.size() && (file[text] == text_begin || file[text] == rewrite_mark)) {
    stub.text_offset = text;
    stub.is_rewritten = file[text] == rewrite_mark;
  }
  return stub;
}

}  // namespace mcr::restart
