// SPDX-License-Identifier: BSD-3-Clause
// The bytes that pipelines store of one made field, by checksum: the same on every machine, with
// and without AVX2, and from one version to the next. A checksum that changes means that the
// encoder chose otherwise (harmless: put the new one here, and say why in the commit) or that the
// format changed (old frames must still decode: see docs/format.md).
#include <bit>

#include "codecs/base/checksum.hpp"
#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/cpu.hpp"
#include "codecs/base/integers.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

Layout field_layout(std::uint32_t size) {
  return {{ElementKind::floating, size, false},
          {{3, {20, 24, 28}}, {2, {500, 3}}, Shape::flat(4096)}};
}

/// A wavy field with noise in its last bits, some zeros, infinities and denormals: little-endian,
/// and by additions and multiplications alone, which every machine rounds alike.
template <typename Float, typename Word>
Bytes make_field() {
  const auto layout = field_layout(sizeof(Float));
  Bytes raw(static_cast<std::size_t>(layout.raw_bytes()));
  std::uint64_t noise = 1;
  volatile Float x = 0;
  volatile Float y = 1;
  for (std::size_t i = 0; i < raw.size() / sizeof(Float); ++i) {
    const Float dx = static_cast<Float>(0.03125) * y;
    x = x + dx;
    const Float dy = static_cast<Float>(0.03125) * x;
    y = y - dy;
    noise = noise * 6364136223846793005U + 1442695040888963407U;
    auto word = std::bit_cast<Word>(static_cast<Float>(x));
    word = static_cast<Word>(word ^ static_cast<Word>(noise >> (64 - sizeof(Word) * 2)));
    if (noise % 31 == 0) word = 0;
    if (noise % 997 == 0)
      word = static_cast<Word>(sizeof(Word) == 8 ? 0xfff0000000000000 : 0x7f800000);
    if (noise % 499 == 0) word = static_cast<Word>(noise >> 50);
    store(raw.data() + i * sizeof(Word), little_endian(word));
  }
  return raw;
}

std::uint64_t stored_checksum(std::string_view text, const Bytes& raw, std::uint32_t size) {
  auto pipeline = Pipeline::parse(text);
  REQUIRE(pipeline);
  Scratch scratch;
  Bytes stored;
  std::vector<std::uint64_t> coded;
  REQUIRE(run_encode(*pipeline, raw, field_layout(size), scratch, stored, coded));
  Bytes back(raw.size());
  REQUIRE(run_decode(*pipeline, stored, field_layout(size), coded, scratch, back));
  REQUIRE(back == raw);
  return checksum(stored);
}

struct Expected {
  std::string_view pipeline;
  std::uint64_t of_double;
  std::uint64_t of_float;
};

constexpr Expected expected[] = {
    {"entropy", 0x60ce44d9bec72723, 0xdbeff7514b7ff18b},
    {"entropy(smallest)", 0x60ce44d9bec72723, 0xdbeff7514b7ff18b},
    {"planes(zstd=0)", 0xc0790458d02a8a63, 0xd3ef6d46d11359d9},
    {"planes(smallest,zstd=0)", 0xaaf7c2003fa77246, 0xa2c74f5682ad87c5},
    {"top_bits", 0x00d0a6e14c6f3ae8, 0x8d80a604ef88853f},
    {"top_bits(3,smallest)", 0xb8a092f36619c412, 0xdd97cf5b2eb2ce2d},
    {"class_coder", 0xd24756e50543ba90, 0xa3cdc4268fffef8f},
    {"ordered_int|delta|zigzag|class_coder(smallest)", 0xd96986aeb7a45721, 0x36bb0c7b2dcecc29},
    {"structure_split|ordered_int|delta|zigzag|entropy", 0x458376ab7afbd1f8, 0xd8ec5c72b675b80e},
    {"lorenzo(1)|class_coder", 0x0133d4b6e297dd04, 0xa82207b0ab09a21f},
    {"lorenzo(2,float)|class_coder", 0x55063b4b0f38aa51, 0x5e75f9d48d1f921b},
    {"lorenzo(3,float,cube)|class_coder", 0x68d021d9716f6f9f, 0xba680f88080ca4d0},
    {"lorenzo(3,integer,cube)|class_coder", 0xa1ac48a4bab57ced, 0xa32701ac095e1855},
    {"lorenzo(auto)|class_coder(smallest,contexts)", 0x0dfe3055b4a6929a, 0x203a648c8e67e3ae},
};

}  // namespace

TEST_CASE("stored bytes are what they were, on every machine") {
  const Bytes doubles = make_field<double, std::uint64_t>();
  const Bytes floats = make_field<float, std::uint32_t>();
  for (const bool portable : {false, true}) {
    for (const Expected& row : expected) {
      cpu::use_portable_only(portable);
      const std::uint64_t of_double = stored_checksum(row.pipeline, doubles, 8);
      const std::uint64_t of_float = stored_checksum(row.pipeline, floats, 4);
      cpu::use_portable_only(false);
      CAPTURE(row.pipeline, portable);
      CHECK(of_double == row.of_double);
      CHECK(of_float == row.of_float);
    }
  }
}

}  // namespace mcr::codecs
