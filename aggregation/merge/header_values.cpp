// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/header_values.hpp"

#include <set>

#include "aggregation/merge/metadata_checksum.hpp"
#include "codecs/base/integers.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t max_header_bytes = 1U << 20;
constexpr int max_continuations = 64;
constexpr std::size_t signature_bytes = 4;
constexpr std::size_t checksum_bytes = 4;

// Messages in object headers.
constexpr unsigned message_link_info = 0x0002;
constexpr unsigned message_link = 0x0006;
constexpr unsigned message_layout = 0x0008;
constexpr unsigned message_attribute = 0x000c;
constexpr unsigned message_continuation = 0x0010;
constexpr unsigned message_symbol_table = 0x0011;
constexpr unsigned message_time = 0x0012;
constexpr unsigned flag_shared = 0x02;

// Classes in datatype messages.
constexpr unsigned compound_class = 6;
constexpr unsigned reference_class = 7;
constexpr unsigned variable_length_class = 9;
constexpr unsigned array_class = 10;

Error not_understood() { return {Cause::unsupported, "an object header has an unknown form"}; }

std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

class HeaderParser {
 public:
  HeaderParser(const PartMetadata& part, std::uint64_t base) : part_(part), base_(base) {}

  Result<HeaderValues> parse(std::uint64_t address) {
    Reader in(part_.some_at(address, 64));
    const std::uint8_t first = MCR_TRY(in.u8());
    if (first == 1) {
      MCR_TRY(in.bytes(7));
      const std::uint32_t bytes = MCR_TRY(in.u32());
      found_.blocks.push_back({address, 16});
      MCR_TRY(parse_messages(address + 16, bytes, 1));
    } else if (first == 'O') {
      MCR_TRY(parse_second(address, in));
    } else {
      return not_understood();
    }
    for (int i = 0; !continuations_.empty(); ++i) {
      if (i == max_continuations) return Error{Cause::damaged, "an object header is damaged"};
      const Continuation next = continuations_.back();
      continuations_.pop_back();
      if (first == 1) {
        MCR_TRY(parse_messages(next.offset, next.bytes, 1));
      } else {
        MCR_TRY(parse_checked(next.offset, next.offset + signature_bytes, next.bytes));
      }
    }
    if (found_.symbol_table && found_.is_new_style_group) return not_understood();
    return std::move(found_);
  }

 private:
  struct Continuation {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  Result<void> parse_second(std::uint64_t address, Reader& in) {
    if (as_text(MCR_TRY(in.bytes(3))) != "HDR" || MCR_TRY(in.u8()) != 2) {
      return not_understood();
    }
    flags_ = MCR_TRY(in.u8());
    if ((flags_ & 0x20U) != 0) {
      add_value({address + in.position(), 16, {}});
      MCR_TRY(in.bytes(16));
    }
    if ((flags_ & 0x10U) != 0) MCR_TRY(in.bytes(4));
    std::uint64_t bytes = 0;
    const unsigned width = 1U << (flags_ & 3U);
    for (unsigned i = 0; i < width; ++i) bytes |= std::uint64_t{MCR_TRY(in.u8())} << (8 * i);
    if (bytes > max_header_bytes) return Error{Cause::damaged, "an object header is damaged"};
    return parse_checked(address, address + in.position(), in.position() + bytes + checksum_bytes);
  }

  /// Parses the part of a new-style header that has the `bytes` bytes at `offset`: the messages at
  /// `messages`, and a checksum.
  Result<void> parse_checked(std::uint64_t offset, std::uint64_t messages, std::uint64_t bytes) {
    if (bytes > 2 * max_header_bytes || bytes < messages - offset + checksum_bytes ||
        !ends_with_checksum(MCR_TRY(part_.at(offset, bytes)))) {
      return Error{Cause::damaged, "an object header is damaged"};
    }
    found_.checked.push_back({offset, bytes});
    found_.blocks.push_back({offset, bytes});
    const std::uint64_t end = offset + bytes - checksum_bytes;
    add_value({end, checksum_bytes, {}});
    return parse_messages(messages, end - messages, 2);
  }

  Result<void> parse_messages(std::uint64_t offset, std::uint64_t bytes, int version) {
    if (bytes > max_header_bytes) return Error{Cause::damaged, "an object header is damaged"};
    Reader in(MCR_TRY(part_.at(offset, bytes)));
    if (version == 1) found_.blocks.push_back({offset, bytes});
    const std::size_t head = version == 1 ? 8 : (flags_ & 4U) != 0 ? 6 : 4;
    while (in.remaining() >= head) {
      const unsigned type = version == 1 ? MCR_TRY(in.u16()) : MCR_TRY(in.u8());
      const std::uint16_t message_bytes = MCR_TRY(in.u16());
      const std::uint8_t flags = MCR_TRY(in.u8());
      MCR_TRY(in.bytes(head - (version == 1 ? 5 : 4)));
      const std::uint64_t place = offset + in.position();
      const ByteSpan message = MCR_TRY(in.bytes(message_bytes));
      if ((flags & flag_shared) == 0) {
        MCR_TRY(note_message(type, place, message));
      } else if (type == message_attribute) {
        return not_understood();  // its name is elsewhere
      }
    }
    return {};
  }

  Result<void> note_message(unsigned type, std::uint64_t place, ByteSpan message) {
    Reader in(message);
    if (type == message_time && message.size() == 8) {
      add_value({place + 4, 4, {}});  // after the version
    } else if (type == message_layout) {
      const std::uint8_t version = MCR_TRY(in.u8());
      const std::uint8_t kind = MCR_TRY(in.u8());
      if ((version == 3 || version == 4) && kind == 0 && message.size() > 4) {
        add_value({place + 4, message.size() - 4, {}});
      }
    } else if (type == message_attribute) {
      return note_attribute(place, in);
    } else if (type == message_continuation) {
      const std::uint64_t address = MCR_TRY(in.u64());
      const std::uint64_t bytes = MCR_TRY(in.u64());
      continuations_.push_back({MCR_TRY(checked_add(address, base_)), bytes});
    } else if (type == message_link_info || type == message_link) {
      found_.is_new_style_group = true;
    } else if (type == message_symbol_table) {
      if (found_.symbol_table) return not_understood();
      HeaderValues::SymbolTable table;
      table.tree = MCR_TRY(checked_add(MCR_TRY(in.u64()), base_));
      table.heap = MCR_TRY(checked_add(MCR_TRY(in.u64()), base_));
      found_.symbol_table = table;
    }
    return {};
  }

  Result<void> note_attribute(std::uint64_t place, Reader& in) {
    const std::uint8_t version = MCR_TRY(in.u8());
    const std::uint8_t flags = MCR_TRY(in.u8());
    const std::uint16_t name_bytes = MCR_TRY(in.u16());
    const std::uint16_t type_bytes = MCR_TRY(in.u16());
    const std::uint16_t space_bytes = MCR_TRY(in.u16());
    if (version < 1 || version > 3) return not_understood();
    if (version == 3) MCR_TRY(in.u8());
    const bool pads = version == 1;
    std::string name(as_text(MCR_TRY(in.bytes(pads ? padded(name_bytes) : name_bytes))));
    name = name.substr(0, name.find('\0'));
    // HDF5 reads one of the attributes that have the name.
    if (!attribute_names_.insert(name).second) return not_understood();
    if (version > 1 && flags != 0) return {};  // compared exactly
    const ByteSpan type = MCR_TRY(in.bytes(pads ? padded(type_bytes) : type_bytes));
    MCR_TRY(in.bytes(pads ? padded(space_bytes) : space_bytes));
    Reader in_type(type);
    const unsigned type_class = MCR_TRY(in_type.u8()) & 15U;
    MCR_TRY(in_type.bytes(3));
    const std::uint32_t element_bytes = MCR_TRY(in_type.u32());
    const bool may_refer_to_heap = type_class == compound_class || type_class == reference_class ||
                                   type_class == variable_length_class || type_class >= array_class;
    add_value(
        {place + in.position(), in.remaining(), std::move(name), may_refer_to_heap, element_bytes});
    return {};
  }

  void add_value(HeaderValue value) {
    if (value.bytes != 0) found_.values.push_back(std::move(value));
  }

  const PartMetadata& part_;
  std::uint64_t base_;
  HeaderValues found_;
  std::uint8_t flags_ = 0;
  std::set<std::string> attribute_names_;
  std::vector<Continuation> continuations_;
};

}  // namespace

Result<HeaderValues> read_header_values(const PartMetadata& part, std::uint64_t base,
                                        std::uint64_t address) {
  return HeaderParser(part, base).parse(address);
}

}  // namespace mcr::aggregation
