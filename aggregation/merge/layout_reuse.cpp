// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/layout_reuse.hpp"

#include <algorithm>
#include <cstring>

#include "aggregation/merge/part_reads.hpp"
#include "codecs/base/integers.hpp"

namespace mcr::aggregation {
namespace {

// Limits on a reference's metadata, which is kept in memory while a set is committed.
constexpr std::uint64_t max_metadata_bytes = 64U << 20;
constexpr std::size_t max_header_bytes = 1U << 20;
constexpr int max_continuations = 64;
constexpr std::size_t comparison_window = 64U << 10;
constexpr std::size_t comparison_step = 64;

// Messages in object headers.
constexpr unsigned message_layout = 0x0008;
constexpr unsigned message_attribute = 0x000c;
constexpr unsigned message_old_time = 0x000e;
constexpr unsigned message_continuation = 0x0010;
constexpr unsigned message_time = 0x0012;
constexpr unsigned flag_shared = 0x02;

std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

/// Finds the values in one object's header. If the parser does not understand a header, it returns
/// no values, so that the whole header is compared.
class ReferencePart::HeaderParser {
 public:
  HeaderParser(const restart::File& file, std::uint64_t size, std::uint64_t base,
               std::size_t object, std::vector<ValueRange>& values)
      : file_(file), size_(size), base_(base), object_(object), values_(values) {}

  Result<void> parse(std::uint64_t address) {
    Bytes head(std::min<std::uint64_t>(64, size_ - std::min(size_, address)));
    MCR_TRY(file_.read_at(address, head));
    Reader in(head);
    const std::uint8_t first = MCR_TRY(in.u8());
    if (first == 1) {
      MCR_TRY(in.bytes(7));
      const std::uint32_t bytes = MCR_TRY(in.u32());
      MCR_TRY(parse_block(address + 16, bytes, 1, 0, 0));
    } else if (first == 'O') {
      MCR_TRY(parse_second(address, in));
    } else {
      return Error{Cause::unsupported, "an object header has an unknown form"};
    }
    for (int i = 0; !continuations_.empty(); ++i) {
      if (i == max_continuations) return Error{Cause::damaged, "an object header is damaged"};
      const Extent next = continuations_.back();
      continuations_.pop_back();
      if (first == 1) {
        MCR_TRY(parse_block(next.offset, next.bytes, 1, 0, 0));
      } else {
        MCR_TRY(parse_block(next.offset, next.bytes, 2, 4, 4));
      }
    }
    return {};
  }

 private:
  Result<void> parse_second(std::uint64_t address, Reader& in) {
    if (as_text(MCR_TRY(in.bytes(3))) != "HDR" || MCR_TRY(in.u8()) != 2) {
      return Error{Cause::unsupported, "an object header has an unknown form"};
    }
    flags_ = MCR_TRY(in.u8());
    if ((flags_ & 0x20U) != 0) {
      add_value(address + in.position(), 16, {});
      MCR_TRY(in.bytes(16));
    }
    if ((flags_ & 0x10U) != 0) MCR_TRY(in.bytes(4));
    std::uint64_t bytes = 0;
    const unsigned width = 1U << (flags_ & 3U);
    for (unsigned i = 0; i < width; ++i) bytes |= std::uint64_t{MCR_TRY(in.u8())} << (8 * i);
    if (bytes > max_header_bytes) return Error{Cause::damaged, "an object header is damaged"};
    return parse_block(address + in.position(), bytes + 4, 2, 0, 4);
  }

  /// Parses the messages in the `bytes` bytes at `offset`. The first `before` of these bytes are a
  /// signature, and the last `after` bytes are a checksum.
  Result<void> parse_block(std::uint64_t offset, std::uint64_t bytes, int version,
                           std::size_t before, std::size_t after) {
    if (bytes > max_header_bytes || offset > size_ || bytes > size_ - offset ||
        bytes < before + after) {
      return Error{Cause::damaged, "an object header is damaged"};
    }
    Bytes block(static_cast<std::size_t>(bytes));
    MCR_TRY(file_.read_at(offset, block));
    if (after != 0) add_value(offset + bytes - after, after, {});
    Reader in(ByteSpan(block).first(block.size() - after));
    MCR_TRY(in.bytes(before));
    const std::size_t head = version == 1 ? 8 : (flags_ & 4U) != 0 ? 6 : 4;
    while (in.remaining() >= head) {
      const unsigned type = version == 1 ? MCR_TRY(in.u16()) : MCR_TRY(in.u8());
      const std::uint16_t message_bytes = MCR_TRY(in.u16());
      const std::uint8_t flags = MCR_TRY(in.u8());
      MCR_TRY(in.bytes(head - (version == 1 ? 5 : 4)));
      const std::uint64_t place = offset + in.position();
      const ByteSpan message = MCR_TRY(in.bytes(message_bytes));
      if ((flags & flag_shared) == 0) MCR_TRY(note_message(type, place, message));
    }
    return {};
  }

  Result<void> note_message(unsigned type, std::uint64_t place, ByteSpan message) {
    Reader in(message);
    if (type == message_time || type == message_old_time) {
      add_value(place, message.size(), {});
    } else if (type == message_layout) {
      const std::uint8_t version = MCR_TRY(in.u8());
      const std::uint8_t kind = MCR_TRY(in.u8());
      if ((version == 3 || version == 4) && kind == 0 && message.size() > 4) {
        add_value(place + 4, message.size() - 4, {});
      }
    } else if (type == message_attribute) {
      return note_attribute(place, in);
    } else if (type == message_continuation) {
      const std::uint64_t address = MCR_TRY(in.u64());
      const std::uint64_t bytes = MCR_TRY(in.u64());
      continuations_.push_back({MCR_TRY(checked_add(address, base_)), bytes});
    }
    return {};
  }

  Result<void> note_attribute(std::uint64_t place, Reader& in) {
    const std::uint8_t version = MCR_TRY(in.u8());
    const std::uint8_t flags = MCR_TRY(in.u8());
    const std::uint16_t name_bytes = MCR_TRY(in.u16());
    const std::uint16_t type_bytes = MCR_TRY(in.u16());
    const std::uint16_t space_bytes = MCR_TRY(in.u16());
    if (version < 1 || version > 3 || (version > 1 && flags != 0)) return {};  // compared exactly
    if (version == 3) MCR_TRY(in.u8());
    const bool pads = version == 1;
    std::string name(as_text(MCR_TRY(in.bytes(pads ? padded(name_bytes) : name_bytes))));
    name = name.substr(0, name.find('\0'));
    MCR_TRY(in.bytes(pads ? padded(type_bytes) : type_bytes));
    MCR_TRY(in.bytes(pads ? padded(space_bytes) : space_bytes));
    add_value(place + in.position(), in.remaining(), std::move(name));
    return {};
  }

  void add_value(std::uint64_t offset, std::uint64_t bytes, std::string attribute) {
    if (bytes != 0) values_.push_back({offset, bytes, object_, std::move(attribute)});
  }

  const restart::File& file_;
  std::uint64_t size_;
  std::uint64_t base_;
  std::size_t object_;
  std::vector<ValueRange>& values_;
  std::uint8_t flags_ = 0;
  std::vector<Extent> continuations_;
};

std::optional<ReferencePart> ReferencePart::make(const restart::File& file, std::uint64_t size,
                                                 const WalkedPart& walked) {
  ReferencePart reference;
  reference.size_ = size;
  reference.layout_ = walked.layout;
  reference.objects_ = walked.objects;

  std::vector<Extent> raw;
  std::uint64_t raw_bytes = 0;
  for (const DatasetInfo& dataset : walked.layout->datasets) {
    raw.insert(raw.end(), dataset.extents.begin(), dataset.extents.end());
    raw_bytes += dataset.bytes();
  }
  if (size - raw_bytes > max_metadata_bytes) return std::nullopt;
  std::sort(raw.begin(), raw.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  raw.push_back({size, 0});
  std::uint64_t end = 0;
  for (const Extent& extent : raw) {
    if (extent.offset > end) {
      Gap gap{end, Bytes(static_cast<std::size_t>(extent.offset - end))};
      if (!file.read_at(end, gap.bytes)) return std::nullopt;
      reference.gaps_.push_back(std::move(gap));
    }
    end = extent.offset + extent.bytes;
  }

  for (std::size_t i = 0; i < walked.objects.size(); ++i) {
    std::vector<ValueRange> values;
    HeaderParser parser(file, size, walked.base_address, i, values);
    if (!parser.parse(walked.objects[i].address)) continue;  // no values: compared exactly
    reference.values_.insert(reference.values_.end(), std::make_move_iterator(values.begin()),
                             std::make_move_iterator(values.end()));
  }
  auto& values = reference.values_;
  std::sort(values.begin(), values.end(),
            [](const ValueRange& a, const ValueRange& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i - 1].offset + values[i - 1].bytes > values[i].offset) return std::nullopt;
  }
  return reference;
}

bool ReferencePart::is_value(std::uint64_t place, std::vector<std::size_t>& changed) const {
  const auto behind =
      std::upper_bound(values_.begin(), values_.end(), place,
                       [](std::uint64_t at, const ValueRange& range) { return at < range.offset; });
  if (behind == values_.begin()) return false;
  const auto range = behind - 1;
  if (place - range->offset >= range->bytes) return false;
  const auto number = static_cast<std::size_t>(range - values_.begin());
  if (changed.empty() || changed.back() != number) changed.push_back(number);
  return true;
}

bool ReferencePart::fits(const restart::File& file, std::uint64_t size) {
  if (size != size_) return false;
  std::vector<std::size_t> changed;
  Bytes other;
  WindowedFile windowed(file, comparison_window);
  for (const Gap& gap : gaps_) {
    other.resize(gap.bytes.size());
    if (!windowed.read_at(gap.offset, other)) return false;
    for (std::size_t i = 0; i < other.size();) {
      const std::size_t step = std::min(comparison_step, other.size() - i);
      const std::size_t end = i + step;
      if (std::memcmp(other.data() + i, gap.bytes.data() + i, step) == 0) i = end;
      for (; i < end; ++i) {
        if (other[i] != gap.bytes[i] && !is_value(gap.offset + i, changed)) return false;
      }
    }
  }
  for (const std::size_t number : changed) drop_attribute(values_[number]);
  return true;
}

void ReferencePart::drop_attribute(const ValueRange& range) {
  if (range.attribute.empty()) return;
  const ObjectHeader& object = objects_[range.object];
  const auto drop = [&](std::vector<AttributeValue>& attributes) {
    std::erase_if(attributes, [&](const AttributeValue& attribute) {
      return attribute.name == range.attribute;
    });
  };
  if (object.dataset != ObjectHeader::none) drop(layout_->datasets[object.dataset].attributes);
  if (object.group != ObjectHeader::none) drop(layout_->groups[object.group].attributes);
}

}  // namespace mcr::aggregation
