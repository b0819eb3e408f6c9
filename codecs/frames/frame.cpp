// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/frames/frame.hpp"

#include "codecs/base/byte_order.hpp"
#include "codecs/base/checksum.hpp"
#include "codecs/base/layout_format.hpp"
#include "codecs/frames/plain_frame.hpp"
#include "codecs/frames/solid_frame.hpp"

namespace mcr::codecs {
namespace {

constexpr std::uint8_t magic = 0x6d;
constexpr std::size_t checksum_bytes = 8;

// Kinds of frames, the low four bits of the third byte; the others are zero.
constexpr std::uint8_t kind_plain = 0;
constexpr std::uint8_t kind_link = 1;  // (2 is a solid frame, which begins with the same bytes)

Error damaged(std::string message) { return {Cause::damaged, "frame: " + std::move(message)}; }

/// True if the bytes of an element must be reversed between file and pipeline.
bool must_reverse(const Layout& layout, const Pipeline& pipeline) {
  return layout.type.big_endian && layout.type.size > 1 && !pipeline.steps.empty();
}

Layout as_little_endian(const Layout& layout) {
  Layout turned = layout;
  turned.type.big_endian = false;
  return turned;
}

/// Reads the runs of a link, `raw_bytes` long together.
Result<std::vector<LinkRun>> read_runs(Reader& in, std::uint64_t raw_bytes) {
  std::vector<LinkRun> runs;
  const std::uint64_t count = MCR_TRY(in.varint_at_most(in.remaining() / 2, "runs of a link"));
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t offset = MCR_TRY(in.varint());
    runs.push_back({offset, MCR_TRY(in.varint_at_most(raw_bytes - sum, "run of a link"))});
    sum += runs.back().bytes;
  }
  if (sum != raw_bytes) return damaged("link is of another size");
  return runs;
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
    info.link = Link{static_cast<std::uint32_t>(dataset), MCR_TRY(read_runs(in, info.raw_bytes))};
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

/// Appends the checksum of all bytes from `begin` on.
void end_frame(std::size_t begin, Bytes& out) {
  Writer(out).u64(checksum(std::span(out).subspan(begin)));
}

/// Encodes the payload of `raw` under `pipeline`.
Result<void> encode_payload(ByteSpan raw, const Layout& layout, Pipeline& pipeline,
                            Scratch& scratch, Bytes& payload, std::vector<std::uint64_t>& coded) {
  if (!must_reverse(layout, pipeline)) {
    return run_encode(pipeline, raw, layout, scratch, payload, coded);
  }
  const auto turned = scratch.take<std::byte>(raw.size());
  reverse_elements(raw, layout.type.size, turned.span());
  return run_encode(pipeline, turned.span(), as_little_endian(layout), scratch, payload, coded);
}

}  // namespace

Result<void> encode_frame(ByteSpan raw, const Layout& layout, const Pipeline& pipeline,
                          Scratch& scratch, Bytes& out) {
  MCR_TRY(check_layout(layout));
  if (raw.size() != layout.raw_bytes()) {
    return Error{Cause::usage, "frame: " + std::to_string(raw.size()) + " bytes for a layout of " +
                                   std::to_string(layout.raw_bytes())};
  }
  const auto payload = scratch.take_vector();
  std::vector<std::uint64_t> coded;
  Pipeline fitted = pipeline;
  bool store = pipeline.steps.empty();
  if (!store) {
    const auto encoded = encode_payload(raw, layout, fitted, scratch, *payload, coded);
    if (!encoded && encoded.error().cause != Cause::usage &&
        encoded.error().cause != Cause::unsupported) {
      return encoded.error();
    }
    store = !encoded || payload->size() >= raw.size();
  }
  if (store) return write_plain_frame(raw, layout, {}, {}, raw, out);
  return write_plain_frame(raw, layout, fitted, coded, *payload, out);
}

Result<void> write_plain_frame(ByteSpan raw, const Layout& layout, const Pipeline& pipeline,
                               std::span<const std::uint64_t> coded_bytes, ByteSpan payload,
                               Bytes& out) {
  const std::size_t begin = out.size();
  Writer writer(out);
  MCR_TRY(begin_frame(kind_plain, layout, writer));
  pipeline.write(writer);
  for (const std::uint64_t size : coded_bytes) writer.varint(size);
  writer.varint(payload.size());
  writer.u64(checksum(raw));
  writer.bytes(payload);
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
  writer.varint(link.runs.size());
  for (const LinkRun& run : link.runs) {
    writer.varint(run.raw_offset);
    writer.varint(run.bytes);
  }
  writer.u64(raw_checksum);
  end_frame(begin, out);
  return {};
}

Result<FrameInfo> read_frame_info(ByteSpan frame) {
  if (is_solid_frame(frame)) {
    const SolidInfo solid = MCR_TRY(read_solid_info(frame));
    FrameInfo info;
    info.solid = true;
    info.layout.bricks = {Shape::flat(static_cast<std::uint32_t>(solid.raw_bytes))};
    info.raw_bytes = solid.raw_bytes;
    info.frame_bytes = solid.frame_bytes;
    return info;
  }
  return std::move(MCR_TRY(read_header(frame)).info);
}

Result<void> decode_frame(ByteSpan frame, Scratch& scratch, MutableByteSpan raw,
                          LinkedData* linked) {
  if (is_solid_frame(frame)) return decode_solid_frame(frame, scratch, raw);
  const Header header = MCR_TRY(read_header(frame));
  const FrameInfo& info = header.info;
  MCR_TRY(check_stored(frame, info, raw.size()));
  if (info.link) {
    if (linked == nullptr) {
      return Error{
          Cause::unsupported,
          "frame refers to other data of its container, which cannot be reached from here; "
          "`mcr unpack` restores the original files"};
    }
    std::size_t at = 0;
    for (const LinkRun& run : info.link->runs) {
      const auto bytes = static_cast<std::size_t>(run.bytes);
      MCR_TRY(linked->read(info.link->dataset, run.raw_offset, raw.subspan(at, bytes)));
      at += bytes;
    }
  } else {
    const ByteSpan payload = frame.subspan(header.payload_begin, header.payload_bytes);
    const bool reverse = must_reverse(info.layout, info.pipeline);
    const auto decoded =
        run_decode(info.pipeline, payload, reverse ? as_little_endian(info.layout) : info.layout,
                   header.coded_bytes, scratch, raw);
    // The layout is from the frame. So if a codec cannot take it, the frame is damaged, and it is
    // not a usage error.
    if (!decoded && decoded.error().cause == Cause::usage) return damaged(decoded.error().message);
    if (!decoded) return decoded.error();
    if (reverse) reverse_elements(raw, info.layout.type.size, raw);
  }
  return check_decoded(info, raw);
}

Result<PlainFrame> open_plain_frame(ByteSpan frame) {
  if (is_solid_frame(frame)) return Error{Cause::unsupported, "frame: is solid"};
  Header header = MCR_TRY(read_header(frame));
  if (header.info.link) return Error{Cause::unsupported, "frame: is a link"};
  return PlainFrame{std::move(header.info), std::move(header.coded_bytes),
                    frame.subspan(header.payload_begin, header.payload_bytes)};
}

Result<void> check_stored(ByteSpan frame, const FrameInfo& info, std::size_t raw_bytes) {
  const auto covered = frame.first(static_cast<std::size_t>(info.frame_bytes) - checksum_bytes);
  if (little_endian(load<std::uint64_t>(covered.data() + covered.size())) != checksum(covered)) {
    return damaged("stored bytes do not match their checksum");
  }
  if (raw_bytes != info.raw_bytes) {
    return damaged("holds " + std::to_string(info.raw_bytes) + " bytes where " +
                   std::to_string(raw_bytes) + " belong");
  }
  return {};
}

Result<void> check_decoded(const FrameInfo& info, ByteSpan raw) {
  if (checksum(raw) != info.raw_checksum)
    return damaged("decoded bytes do not match their checksum");
  return {};
}

}  // namespace mcr::codecs
