// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/frame.hpp"

#include "codecs/base/byte_order.hpp"
#include "codecs/base/checksum.hpp"

namespace mcr::codecs {
namespace {

constexpr std::uint8_t magic = 0x6d;
constexpr std::size_t checksum_bytes = 8;

// Kinds of frames, the low four bits of the third byte; the others are zero.
constexpr std::uint8_t kind_plain = 0;
constexpr std::uint8_t kind_link = 1;

Error damaged(std::string message) { return {Cause::damaged, "frame: " + std::move(message)}; }

bool is_number(const ElementType& type) { return type.kind != ElementKind::bytes; }

/// True where the bytes of an element must be reversed between file and pipeline.
bool must_reverse(const Layout& layout, const Pipeline& pipeline) {
  return layout.type.big_endian && layout.type.size > 1 && !pipeline.steps.empty();
}

Layout as_little_endian(const Layout& layout) {
  Layout turned = layout;
  turned.type.big_endian = false;
  return turned;
}

// Type byte: kind in bits 0-1, big-endian in bit 2, bits 3-6: binary logarithm of the size, or 15
// where the size follows as a varint.
void write_type(const ElementType& type, Writer& out) {
  const auto kind = static_cast<unsigned>(type.kind) | (type.big_endian ? 4U : 0U);
  if (is_word_size(type.size)) {
    out.u8(static_cast<std::uint8_t>(kind | static_cast<unsigned>(__builtin_ctz(type.size)) << 3));
  } else {
    out.u8(static_cast<std::uint8_t>(kind | 15U << 3));
    out.varint(type.size);
  }
}

Result<ElementType> read_type(Reader& in) {
  const std::uint8_t byte = MCR_TRY(in.u8());
  ElementType type;
  type.kind = static_cast<ElementKind>(byte & 3U);
  type.big_endian = (byte & 4U) != 0;
  const unsigned log2_size = (byte >> 3) & 15U;
  if ((byte & 0x80U) != 0 || (log2_size > 3 && log2_size != 15)) return damaged("no such type");
  type.size = 1U << (log2_size & 3U);
  if (log2_size == 15) {
    type.size =
        static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_element_bytes, "type size")));
  }
  return type;
}

// Bricks: runs of equal shapes. A run: varint of (repeats - 1) * 4 + (rank - 1), then the extents.
void write_bricks(const std::vector<Shape>& bricks, Writer& out) {
  std::uint64_t runs = 0;
  for (std::size_t i = 0; i < bricks.size(); ++i) runs += i == 0 || bricks[i] != bricks[i - 1];
  out.varint(runs);
  for (std::size_t i = 0; i < bricks.size();) {
    std::size_t end = i + 1;
    while (end < bricks.size() && bricks[end] == bricks[i]) ++end;
    const Shape& shape = bricks[i];
    out.varint((end - i - 1) * 4 + shape.rank - 1U);
    for (std::size_t axis = 0; axis < shape.rank; ++axis) out.varint(shape.extent[axis]);
    i = end;
  }
}

Result<std::vector<Shape>> read_bricks(Reader& in) {
  std::vector<Shape> bricks;
  const std::uint64_t runs = MCR_TRY(in.varint_at_most(max_frame_bricks, "number of brick runs"));
  std::uint64_t elements = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::uint64_t head = MCR_TRY(in.varint_at_most(max_frame_bricks * 4, "brick run"));
    const std::uint64_t repeats = head / 4 + 1;
    Shape shape;
    shape.rank = static_cast<std::uint8_t>(head % 4 + 1);
    std::uint64_t count = 1;
    for (std::size_t axis = 0; axis < shape.rank; ++axis) {
      shape.extent[axis] =
          static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_frame_raw_bytes, "extent")));
      count = MCR_TRY(checked_multiply(count, shape.extent[axis]));
    }
    elements = MCR_TRY(checked_add(elements, MCR_TRY(checked_multiply(count, repeats))));
    if (elements > max_frame_raw_bytes || bricks.size() + repeats > max_frame_bricks) {
      return damaged("bricks are above their limit");
    }
    bricks.insert(bricks.end(), static_cast<std::size_t>(repeats), shape);
  }
  return bricks;
}

struct Header {
  FrameInfo info;
  std::vector<std::uint64_t> coded_bytes;
  std::size_t payload_begin = 0;
  std::size_t payload_bytes = 0;
};

Result<Header> read_header(ByteSpan frame) {
  Reader in(frame);
  Header header;
  FrameInfo& info = header.info;
  if (MCR_TRY(in.u8()) != magic) return damaged("does not begin as one");
  info.format_version = MCR_TRY(in.u8());
  if (info.format_version == 0) return damaged("format version 0");
  if (info.format_version > frame_format_version) {
    return Error{Cause::unsupported,
                 "frame of format version " + std::to_string(info.format_version) +
                     "; this mcr reads up to " + std::to_string(frame_format_version) +
                     ": use a newer one"};
  }
  const std::uint8_t kind = MCR_TRY(in.u8());
  if (kind > kind_link) return damaged("no such kind");
  info.layout.type = MCR_TRY(read_type(in));
  info.layout.bricks = MCR_TRY(read_bricks(in));
  if (const auto checked = check_layout(info.layout); !checked) {
    return damaged(checked.error().message);
  }
  info.raw_bytes = info.layout.raw_bytes();
  if (kind == kind_link) {
    const std::uint64_t dataset =
        MCR_TRY(in.varint_at_most(std::numeric_limits<std::uint32_t>::max(), "linked dataset"));
    info.link = Link{static_cast<std::uint32_t>(dataset), MCR_TRY(in.varint())};
  } else {
    info.pipeline = MCR_TRY(Pipeline::read(in));
    const std::size_t coded = MCR_TRY(coded_count(info.pipeline));
    for (std::size_t i = 0; i < coded; ++i) {
      header.coded_bytes.push_back(
          MCR_TRY(in.varint_at_most(max_coded_bytes(info.raw_bytes), "size of a step")));
    }
    header.payload_bytes =
        static_cast<std::size_t>(MCR_TRY(in.varint_at_most(frame.size(), "payload")));
  }
  info.raw_checksum = MCR_TRY(in.u64());
  header.payload_begin = in.position();
  MCR_TRY(in.bytes(header.payload_bytes));
  MCR_TRY(in.bytes(checksum_bytes));
  info.frame_bytes = in.position();
  return header;
}

Result<void> begin_frame(std::uint8_t kind, const Layout& layout, Writer& out) {
  MCR_TRY(check_layout(layout));
  out.u8(magic);
  out.u8(frame_format_version);
  out.u8(kind);
  write_type(layout.type, out);
  write_bricks(layout.bricks, out);
  return {};
}

/// Appends the checksum of everything from `begin` on.
void end_frame(std::size_t begin, Bytes& out) {
  Writer(out).u64(checksum(std::span(out).subspan(begin)));
}

/// Payload of `raw` under `pipeline`, or what went wrong.
Result<void> encode_payload(ByteSpan raw, const Layout& layout, const Pipeline& pipeline,
                            Scratch& scratch, Bytes& payload, std::vector<std::uint64_t>& coded) {
  if (!must_reverse(layout, pipeline)) {
    return run_encode(pipeline, raw, layout, scratch, payload, coded);
  }
  const auto turned = scratch.take<std::byte>(raw.size());
  reverse_elements(raw, layout.type.size, turned.span());
  return run_encode(pipeline, turned.span(), as_little_endian(layout), scratch, payload, coded);
}

}  // namespace

Result<void> check_layout(const Layout& layout) {
  const ElementType& type = layout.type;
  const auto refuse = [](const char* what) { return Error{Cause::usage, what}; };
  if (type.size == 0 || type.size > max_element_bytes) return refuse("element size out of bounds");
  if (is_number(type) && !is_word_size(type.size)) return refuse("number of an odd size");
  if (type.kind == ElementKind::floating && type.size == 1)
    return refuse("floating type of one byte");
  if (layout.bricks.size() > max_frame_bricks) return refuse("too many bricks in a frame");
  std::uint64_t bytes = 0;
  for (const Shape& shape : layout.bricks) {
    if (shape.rank < 1 || shape.rank > Shape::max_rank) return refuse("brick of a wrong rank");
    std::uint64_t brick_bytes = type.size;
    bool empty = false;
    for (std::size_t axis = 0; axis < shape.rank; ++axis) empty |= shape.extent[axis] == 0;
    for (std::size_t axis = 0; axis < shape.rank && !empty; ++axis) {
      brick_bytes *= shape.extent[axis];
      if (brick_bytes > max_frame_raw_bytes) return refuse("too many bytes in a frame");
    }
    bytes += empty ? 0 : brick_bytes;
    if (bytes > max_frame_raw_bytes) return refuse("too many bytes in a frame");
  }
  return {};
}

Result<void> encode_frame(ByteSpan raw, const Layout& layout, const Pipeline& pipeline,
                          Scratch& scratch, Bytes& out) {
  MCR_TRY(check_layout(layout));
  if (raw.size() != layout.raw_bytes()) {
    return Error{Cause::usage, "frame: " + std::to_string(raw.size()) + " bytes for a layout of " +
                                   std::to_string(layout.raw_bytes())};
  }
  const auto payload = scratch.take_vector();
  std::vector<std::uint64_t> coded;
  bool store = pipeline.steps.empty();
  if (!store) {
    const auto encoded = encode_payload(raw, layout, pipeline, scratch, *payload, coded);
    if (!encoded && encoded.error().cause != Cause::usage &&
        encoded.error().cause != Cause::unsupported) {
      return encoded.error();
    }
    store = !encoded || payload->size() >= raw.size();
  }
  static constexpr Pipeline stored{};
  const std::size_t begin = out.size();
  Writer writer(out);
  MCR_TRY(begin_frame(kind_plain, layout, writer));
  (store ? stored : pipeline).write(writer);
  if (!store) {
    for (const std::uint64_t size : coded) writer.varint(size);
  }
  const ByteSpan body = store ? raw : ByteSpan(*payload);
  writer.varint(body.size());
  writer.u64(checksum(raw));
  writer.bytes(body);
  end_frame(begin, out);
  return {};
}

Result<void> encode_link_frame(const Layout& layout, const Link& link, std::uint64_t raw_checksum,
                               Bytes& out) {
  MCR_TRY(check_layout(layout));
  const std::size_t begin = out.size();
  Writer writer(out);
  MCR_TRY(begin_frame(kind_link, layout, writer));
  writer.varint(link.dataset);
  writer.varint(link.raw_offset);
  writer.u64(raw_checksum);
  end_frame(begin, out);
  return {};
}

Result<FrameInfo> read_frame_info(ByteSpan frame) {
  return std::move(MCR_TRY(read_header(frame)).info);
}

Result<void> decode_frame(ByteSpan frame, Scratch& scratch, MutableByteSpan raw,
                          LinkedData* linked) {
  const Header header = MCR_TRY(read_header(frame));
  const FrameInfo& info = header.info;
  const auto covered = frame.first(static_cast<std::size_t>(info.frame_bytes) - checksum_bytes);
  if (little_endian(load<std::uint64_t>(covered.data() + covered.size())) != checksum(covered)) {
    return damaged("stored bytes do not match their checksum");
  }
  if (raw.size() != info.raw_bytes) {
    return damaged("holds " + std::to_string(info.raw_bytes) + " bytes where " +
                   std::to_string(raw.size()) + " belong");
  }
  if (info.link) {
    if (linked == nullptr) {
      return Error{
          Cause::unsupported,
          "frame refers to other data of its container, which cannot be reached from here; "
          "`mcr unpack` restores the original files"};
    }
    MCR_TRY(linked->read(info.link->dataset, info.link->raw_offset, raw));
  } else {
    const ByteSpan payload = frame.subspan(header.payload_begin, header.payload_bytes);
    const bool reverse = must_reverse(info.layout, info.pipeline);
    const auto decoded =
        run_decode(info.pipeline, payload, reverse ? as_little_endian(info.layout) : info.layout,
                   header.coded_bytes, scratch, raw);
    // A layout that a codec of the pipeline does not take is damage here, not a user's mistake.
    if (!decoded && decoded.error().cause == Cause::usage) return damaged(decoded.error().message);
    if (!decoded) return decoded.error();
    if (reverse) reverse_elements(raw, info.layout.type.size, raw);
  }
  if (checksum(raw) != info.raw_checksum)
    return damaged("decoded bytes do not match their checksum");
  return {};
}

}  // namespace mcr::codecs
