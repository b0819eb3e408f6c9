// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/frames/frame.hpp"

#include "codecs/base/byte_order.hpp"
#include "codecs/base/checksum.hpp"
#include "codecs/base/registry.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

using sample::Pattern;

Pipeline pipeline_of(std::string_view text) {
  auto pipeline = Pipeline::parse(text);
  if (!pipeline) FAIL(pipeline.error().message);
  return *pipeline;
}

Bytes frame_of(ByteSpan raw, const Layout& layout, const Pipeline& pipeline) {
  Scratch scratch;
  Bytes frame;
  const auto encoded = encode_frame(raw, layout, pipeline, scratch, frame);
  if (!encoded) FAIL(encoded.error().message);
  return frame;
}

Bytes data_of(ByteSpan frame) {
  const auto info = read_frame_info(frame);
  if (!info) FAIL(info.error().message);
  REQUIRE(info->frame_bytes == frame.size());
  Scratch scratch;
  Bytes raw(static_cast<std::size_t>(info->raw_bytes), std::byte{0x77});
  const auto decoded = decode_frame(frame, scratch, raw);
  if (!decoded) FAIL(decoded.error().message);
  return raw;
}

/// Puts the right checksum at the end of a frame whose other bytes were changed.
void seal(Bytes& frame) {
  frame.resize(frame.size() - 8);
  Writer(frame).u64(checksum(frame));
}

const Layout doubles{{ElementKind::floating, 8, false}, {Shape::flat(300)}};

TEST_CASE("a frame gives back its data and says what it holds") {
  const Bytes raw = sample::make(doubles.type, 300, Pattern::smooth);
  const Pipeline pipeline = pipeline_of("transpose|zstd(5)");
  const Bytes frame = frame_of(raw, doubles, pipeline);
  const auto info = read_frame_info(frame);
  REQUIRE(info);
  REQUIRE(info->layout == doubles);
  REQUIRE(info->pipeline == pipeline);
  REQUIRE(info->raw_bytes == raw.size());
  REQUIRE(info->raw_checksum == checksum(raw));
  REQUIRE(data_of(frame) == raw);
}

TEST_CASE("a frame's header and checksums take less than 40 bytes") {
  const Layout mebibyte{{ElementKind::floating, 8, false}, {Shape::flat(131072)}};
  const Bytes raw = sample::make(mebibyte.type, 131072, Pattern::random);
  REQUIRE(frame_of(raw, mebibyte, pipeline_of("transpose|zstd(5)")).size() < raw.size() + 40);
}

TEST_CASE("frames of every pipeline return every type, shape and both byte orders") {
  for (const char* text : {"none", "zstd", "zlib(1)", "lz4", "transpose|lz4(9)", "fpzip",
                           "fpzip(1d)|zlib", "lz4|zstd(1)|zlib", "transpose(3)|transpose|zstd"}) {
    DYNAMIC_SECTION(text) {
      const Pipeline pipeline = pipeline_of(text);
      for (ElementType type : sample::all_types()) {
        for (const bool big : {false, true}) {
          type.big_endian = big && type.kind != ElementKind::bytes && type.size > 1;
          for (const auto& bricks : sample::odd_shapes()) {
            const Layout layout{type, bricks};
            INFO(sample::describe(layout));
            for (const auto pattern : {Pattern::smooth, Pattern::specials, Pattern::few}) {
              const Bytes raw =
                  sample::make(type, static_cast<std::size_t>(layout.count()), pattern);
              REQUIRE(data_of(frame_of(raw, layout, pipeline)) == raw);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("big-endian data makes the same payload as the same numbers in little-endian") {
  const Bytes little = sample::make(doubles.type, 300, Pattern::smooth);
  Layout big = doubles;
  big.type.big_endian = true;
  Bytes turned(little.size());
  reverse_elements(little, 8, turned);
  const Pipeline pipeline = pipeline_of("transpose|zstd");
  const Bytes a = frame_of(little, doubles, pipeline);
  const Bytes b = frame_of(turned, big, pipeline);
  REQUIRE(a.size() == b.size());
  REQUIRE(data_of(b) == turned);
  // Only the type byte and the checksums differ.
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
  REQUIRE(different <= 17);
}

TEST_CASE("data that does not become smaller is stored as it is") {
  const Bytes raw = sample::make(doubles.type, 300, Pattern::random);
  const Bytes frame = frame_of(raw, doubles, pipeline_of("zstd"));
  REQUIRE(read_frame_info(frame)->pipeline.steps.empty());
  REQUIRE(frame.size() <= raw.size() + max_frame_overhead);
}

TEST_CASE("data that the pipeline does not take is stored as it is") {
  const Layout text{{ElementKind::bytes, 1, false}, {Shape::flat(300)}};
  const Bytes raw = sample::make(text.type, 300, Pattern::zeros);
  REQUIRE(read_frame_info(frame_of(raw, text, pipeline_of("fpzip")))->pipeline.steps.empty());
}

TEST_CASE("a frame may be followed by other bytes") {
  const Bytes raw = sample::make(doubles.type, 300, Pattern::smooth);
  Bytes two = frame_of(raw, doubles, pipeline_of("zstd"));
  const std::size_t first = two.size();
  two.resize(first + 100, std::byte{0xee});
  REQUIRE(read_frame_info(two)->frame_bytes == first);
  Scratch scratch;
  Bytes back(raw.size());
  REQUIRE(decode_frame(two, scratch, back));
  REQUIRE(back == raw);
}

TEST_CASE("many bricks of one shape cost no more than one") {
  Layout many{{ElementKind::floating, 8, false}, std::vector<Shape>(50, {3, {2, 3, 1}})};
  const Bytes raw = sample::make(many.type, 300, Pattern::random);
  REQUIRE(frame_of(raw, many, {}).size() < raw.size() + 40);
  REQUIRE(read_frame_info(frame_of(raw, many, {}))->layout == many);
}

TEST_CASE("any flipped bit of a frame is an error") {
  Scratch scratch;
  for (const char* text : {"none", "zstd", "transpose|lz4", "lz4|zlib"}) {
    const Bytes raw = sample::make(doubles.type, 300, Pattern::few);
    const Bytes frame = frame_of(raw, doubles, pipeline_of(text));
    Bytes back(raw.size());
    for (std::size_t i = 0; i < frame.size(); ++i) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        Bytes bad = frame;
        bad[i] ^= static_cast<std::byte>(1U << bit);
        INFO(text << ": byte " << i << " bit " << bit);
        REQUIRE_FALSE(decode_frame(bad, scratch, back));
      }
    }
  }
}

TEST_CASE("a frame cut anywhere is an error") {
  Scratch scratch;
  const Bytes raw = sample::make(doubles.type, 300, Pattern::few);
  const Bytes frame = frame_of(raw, doubles, pipeline_of("transpose|zstd"));
  Bytes back(raw.size());
  for (std::size_t length = 0; length < frame.size(); ++length) {
    const auto decoded = decode_frame(ByteSpan(frame).first(length), scratch, back);
    REQUIRE_FALSE(decoded);
    REQUIRE(decoded.error().cause == Cause::damaged);
    REQUIRE_FALSE(read_frame_info(ByteSpan(frame).first(length)));
  }
}

TEST_CASE("a changed header under a right checksum gives an error or the same data") {
  // What a stranger could send: every value of every byte in front of the payload, properly sealed.
  Scratch scratch;
  const Bytes raw = sample::make(doubles.type, 300, Pattern::few);
  const Bytes frame = frame_of(raw, doubles, pipeline_of("transpose|lz4|zstd"));
  for (std::size_t i = 0; i < 40; ++i) {
    for (unsigned value = 0; value < 256; ++value) {
      Bytes bad = frame;
      bad[i] = static_cast<std::byte>(value);
      seal(bad);
      const auto info = read_frame_info(bad);
      if (!info) continue;
      REQUIRE(info->raw_bytes <= max_frame_raw_bytes);
      Bytes back(raw.size());
      if (decode_frame(bad, scratch, back)) REQUIRE(back == raw);
    }
  }
}

TEST_CASE("a frame of a newer format is unsupported and says so") {
  Bytes frame = frame_of(sample::make(doubles.type, 300, Pattern::few), doubles, {});
  frame[1] = std::byte{frame_format_version + 1};
  seal(frame);
  const auto info = read_frame_info(frame);
  REQUIRE_FALSE(info);
  REQUIRE(info.error().cause == Cause::unsupported);
  REQUIRE_THAT(info.error().message, Catch::Contains("newer"));
}

TEST_CASE("a frame with an unknown codec is unsupported and names it") {
  Bytes frame =
      frame_of(sample::make(doubles.type, 300, Pattern::few), doubles, pipeline_of("zstd"));
  // magic, version, kind, type, runs, run, extent of two bytes, steps, codec
  REQUIRE(frame[9] == std::byte{codec_id::zstd});
  frame[9] = std::byte{250};
  seal(frame);
  const auto info = read_frame_info(frame);
  REQUIRE_FALSE(info);
  REQUIRE(info.error().cause == Cause::unsupported);
  REQUIRE_THAT(info.error().message, Catch::Contains("250"));
}

TEST_CASE("a frame is not decoded into a range of another size") {
  const Bytes raw = sample::make(doubles.type, 300, Pattern::few);
  const Bytes frame = frame_of(raw, doubles, pipeline_of("zstd"));
  Scratch scratch;
  for (const std::size_t size : {raw.size() - 1, raw.size() + 1, std::size_t{0}}) {
    Bytes back(size);
    REQUIRE_FALSE(decode_frame(frame, scratch, back));
  }
}

TEST_CASE("layouts beyond the limits are refused before anything is written") {
  Scratch scratch;
  Bytes frame;
  const ElementType byte_type{ElementKind::bytes, 1, false};
  const std::vector<Layout> wrong{
      {{ElementKind::floating, 3, false}, {}},
      {{ElementKind::floating, 1, false}, {}},
      {{ElementKind::bytes, 0, false}, {}},
      {{ElementKind::signed_integer, 16, false}, {}},
      {byte_type, {{5, {1, 1, 1, 1}}}},
      {byte_type, {{0, {}}}},
      {byte_type, {{4, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}}},
      {byte_type, {{2, {1 << 20, 1 << 11}}}},
      {byte_type, std::vector<Shape>(max_frame_bricks + 1)},
  };
  for (const Layout& layout : wrong) {
    const auto encoded = encode_frame({}, layout, {}, scratch, frame);
    REQUIRE_FALSE(encoded);
    REQUIRE(encoded.error().cause == Cause::usage);
    REQUIRE(frame.empty());
  }
}

/// Datasets held in memory.
class LinkedBytes final : public LinkedData {
 public:
  explicit LinkedBytes(Bytes bytes) : bytes_(std::move(bytes)) {}
  Result<void> read(std::uint32_t dataset, std::uint64_t raw_offset, MutableByteSpan out) override {
    if (dataset != 7 || raw_offset + out.size() > bytes_.size()) {
      return Error{Cause::damaged, "no such bytes"};
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(raw_offset), out.size(), out.begin());
    return {};
  }

 private:
  Bytes bytes_;
};

TEST_CASE("a link frame reads its data from elsewhere") {
  const Bytes raw = sample::make(doubles.type, 300, Pattern::smooth);
  Bytes frame;
  REQUIRE(encode_link_frame(doubles, {7, {{100, 1000}, {1100, 1400}}}, checksum(raw), frame));
  REQUIRE(frame.size() < 45);
  REQUIRE(read_frame_info(frame)->link == Link{7, {{100, 1000}, {1100, 1400}}});
  Scratch scratch;
  Bytes back(raw.size());

  SECTION("where there is one who knows") {
    Bytes elsewhere(100);
    elsewhere.insert(elsewhere.end(), raw.begin(), raw.end());
    LinkedBytes linked(elsewhere);
    REQUIRE(decode_frame(frame, scratch, back, &linked));
    REQUIRE(back == raw);
  }
  SECTION("and fails with the remedy where there is none") {
    const auto decoded = decode_frame(frame, scratch, back);
    REQUIRE_FALSE(decoded);
    REQUIRE(decoded.error().cause == Cause::unsupported);
    REQUIRE_THAT(decoded.error().message, Catch::Contains("mcr unpack"));
  }
  SECTION("and notices other data") {
    LinkedBytes linked(Bytes(100 + raw.size()));
    const auto decoded = decode_frame(frame, scratch, back, &linked);
    REQUIRE_FALSE(decoded);
    REQUIRE(decoded.error().cause == Cause::damaged);
  }
}

TEST_CASE("a step that claims an absurd size is refused before memory is taken for it") {
  const Bytes raw = sample::make(doubles.type, 300, Pattern::few);
  const Bytes frame = frame_of(raw, doubles, pipeline_of("lz4|zstd"));
  // magic, version, kind, type, runs, run, extent (2), steps, (codec, length) twice, then the size.
  Bytes bad(frame.begin(), frame.begin() + 13);
  Writer(bad).varint(std::uint64_t{1} << 40);
  bad.insert(bad.end(), frame.begin() + 15, frame.end());
  seal(bad);
  const auto info = read_frame_info(bad);
  REQUIRE_FALSE(info);
  REQUIRE(info.error().cause == Cause::damaged);
  REQUIRE_THAT(info.error().message, Catch::Contains("size of a step"));
}

}  // namespace
}  // namespace mcr::codecs
