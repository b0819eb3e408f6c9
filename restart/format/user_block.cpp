// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/user_block.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "codecs/base/checksum.hpp"
#include "restart/format/index.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view magic{"mcr-container\r\n\x1a", 16};  // the 16th byte is 0
constexpr std::size_t user_block_record_bytes = 16 + 4 + 16 + 4 * 8;

}  // namespace

Bytes write_user_block(const UserBlock& block) {
  Bytes out;
  Writer writer(out);
  writer.bytes(as_bytes(magic));
  writer.u32(block.version);
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
    return Error{Cause::damaged, "the file is not a container: it does not begin as one"};
  }
  UserBlock block;
  block.version = MCR_TRY(in.u32());
  const ByteSpan uuid = MCR_TRY(in.bytes(block.uuid.size()));
  std::transform(uuid.begin(), uuid.end(), block.uuid.begin(),
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  block.index_offset = MCR_TRY(in.u64());
  block.index_bytes = MCR_TRY(in.u64());
  block.directory_bytes = MCR_TRY(in.u64());
  block.directory_checksum = MCR_TRY(in.u64());
  if (MCR_TRY(in.u64()) != checksum(file_head.first(user_block_record_bytes))) {
    return Error{Cause::damaged, "the user block does not match its checksum"};
  }
  if (block.version == 0 || block.version > bundle_version) {
    return Error{Cause::unsupported, "container of format version " +
                                         std::to_string(block.version) + "; this mcr reads up to " +
                                         std::to_string(bundle_version) + ": use a newer one"};
  }
  if (block.directory_bytes > block.index_bytes ||
      block.directory_bytes > IndexDirectory::max_bytes) {
    return damaged_index("directory longer than it may be");
  }
  MCR_TRY(checked_add(block.index_offset, block.index_bytes));
  return block;
}

Bytes write_file_mark(const FileMark& mark) {
  Bytes out;
  Writer writer(out);
  for (const std::uint64_t field : {mark.inode, mark.born_ns, mark.handle, mark.since_ns})
    writer.u64(field);
  writer.u64(checksum(out));
  return out;
}

FileMark read_file_mark(ByteSpan file_head) {
  constexpr std::size_t summed_bytes = 4 * 8;
  constexpr std::size_t bytes = summed_bytes + 8;
  if (file_head.size() < FileMark::offset + bytes) return {};
  const ByteSpan written = file_head.subspan(FileMark::offset, bytes);
  Reader in(written);
  FileMark mark;
  for (std::uint64_t* const field : {&mark.inode, &mark.born_ns, &mark.handle, &mark.since_ns})
    *field = in.u64().value();
  return in.u64().value() == checksum(written.first(summed_bytes)) ? mark : FileMark{};
}

}  // namespace mcr::restart
