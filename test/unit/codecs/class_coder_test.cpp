// SPDX-License-Identifier: BSD-3-Clause
// Class coder and top bits: what their specs say, and the same bytes with and without AVX2. That
// any data comes back, and that damage is survived, is every_codec_test's matter.
#include <bit>
#include <random>

#include "codecs/base/cpu.hpp"
#include "codecs/class_coder/class_coder_codec.hpp"
#include "codecs/class_coder/class_symbols.hpp"
#include "codecs/top_bits/top_bits_codec.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

/// As codecs that do arithmetic take numbers: in this machine's byte order.
template <typename Number>
Bytes in_memory(std::initializer_list<Number> values) {
  Bytes bytes;
  for (const Number value : values) {
    bytes.resize(bytes.size() + sizeof(Number));
    store(bytes.data() + bytes.size() - sizeof(Number), value);
  }
  return bytes;
}

void check_both_variants(const Codec& codec, ByteSpan parameters, const Layout& layout,
                         const Bytes& raw) {
  Scratch scratch;
  Bytes stored;
  REQUIRE(codec.encode(raw, layout, parameters, scratch, stored));
  cpu::use_portable_only(true);
  Bytes portable;
  const bool encoded = codec.encode(raw, layout, parameters, scratch, portable).has_value();
  Bytes back(raw.size());
  const bool decoded = codec.decode(stored, layout, parameters, scratch, back).has_value();
  cpu::use_portable_only(false);
  REQUIRE((encoded && decoded));
  REQUIRE(portable == stored);
  REQUIRE(back == raw);
  back.assign(raw.size(), std::byte{1});
  REQUIRE(codec.decode(stored, layout, parameters, scratch, back));
  REQUIRE(back == raw);
}

template <typename Word>
void check_classes() {
  const auto table = class_table<Word>();
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < 20000; ++round) {
    const auto word = static_cast<Word>(random() >> (random() % 64));
    const auto [symbol, width] = classify(word);
    REQUIRE(symbol < 256);
    REQUIRE(table.width[symbol] == width);
    const auto rest = static_cast<Word>(word & static_cast<Word>((1ULL << width) - 1));
    REQUIRE(static_cast<Word>(table.base[symbol] | rest) == word);
  }
}

TEST_CASE("a class and its rest bits are the number again") {
  check_classes<std::uint8_t>();
  check_classes<std::uint16_t>();
  check_classes<std::uint32_t>();
  check_classes<std::uint64_t>();
}

TEST_CASE("the worked example of the class coder's spec holds") {
  Scratch scratch;
  const Layout layout{{ElementKind::unsigned_integer, 4, false}, {Shape::flat(3)}};
  const Bytes raw = in_memory<std::uint32_t>({5, 100, 5});
  Bytes stored;
  REQUIRE(class_coder_codec().encode(raw, layout, {}, scratch, stored));
  REQUIRE(stored == bytes_of({4, 0, 5, 0x24, 5, 1, 0, 0, 0, 4}));
}

TEST_CASE("the worked example of the top bits' spec holds") {
  Scratch scratch;
  const Layout layout{{ElementKind::floating, 4, false}, {Shape::flat(2)}};
  const Bytes raw = in_memory({1.0F, 1.25F});
  Bytes stored;
  REQUIRE(top_bits_codec().encode(raw, layout, {}, scratch, stored));
  REQUIRE(stored == bytes_of({0, 2, 0xfc, 3, 0, 3, 0, 0, 1, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_CASE("class coder gives the same bytes with and without AVX2") {
  std::mt19937_64 random(8);
  for (const std::uint32_t size : {1U, 2U, 4U, 8U}) {
    for (const std::uint32_t count : {1U, 100U, 32768U, 70001U}) {
      const Layout layout{{ElementKind::unsigned_integer, size, false}, {Shape::flat(count)}};
      Bytes raw(std::size_t{count} * size);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t word = random() >> (random() % 64) >> (64 - 8 * size);
        for (std::size_t b = 0; b < size; ++b) {
          raw[i * size + b] = static_cast<std::byte>(word >> (8 * b));
        }
      }
      check_both_variants(class_coder_codec(), {}, layout, raw);
      check_both_variants(class_coder_codec(), bytes_of({1}), layout, raw);
    }
  }
}

/// Residuals whose size drifts along rows and columns.
Bytes drifting(const Layout& layout, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto count = static_cast<std::size_t>(layout.count());
  Bytes raw(count * 8);
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned width = 20 + static_cast<unsigned>(i / 5000 % 7) * 4;
    store(raw.data() + 8 * i, random() >> (64 - width));
  }
  return raw;
}

TEST_CASE("contexts come back in every shape, and make drifting residuals smaller") {
  Scratch scratch;
  const ElementType type{ElementKind::unsigned_integer, 8, false};
  for (const auto& bricks : sample::odd_shapes()) {
    const Layout layout{type, bricks};
    const Bytes raw = drifting(layout, 4);
    check_both_variants(class_coder_codec(), bytes_of({2}), layout, raw);
    check_both_variants(class_coder_codec(), bytes_of({3}), layout, raw);
  }
  const Layout layout{type, {{2, {300, 200}}, Shape::flat(40000)}};
  const Bytes raw = drifting(layout, 5);
  check_both_variants(class_coder_codec(), bytes_of({3}), layout, raw);
  Bytes plain;
  Bytes grouped;
  REQUIRE(class_coder_codec().encode(raw, layout, bytes_of({1}), scratch, plain));
  REQUIRE(class_coder_codec().encode(raw, layout, bytes_of({3}), scratch, grouped));
  REQUIRE(grouped.size() + 10000 < plain.size());
}

TEST_CASE("damaged contexts are an error or other numbers, and stay inside") {
  Scratch scratch;
  std::mt19937_64 random(6);
  const Layout layout{{ElementKind::unsigned_integer, 8, false}, {{2, {90, 100}}, Shape::flat(77)}};
  const Bytes raw = drifting(layout, 7);
  Bytes stored;
  REQUIRE(class_coder_codec().encode(raw, layout, bytes_of({2}), scratch, stored));
  Bytes back(raw.size());
  for (int round = 0; round < 500; ++round) {
    Bytes damaged = stored;
    const std::size_t reach = round % 2 == 0 ? 60 : damaged.size();
    for (int k = 0; k <= round % 3; ++k)
      damaged[random() % reach] = static_cast<std::byte>(random());
    if (round % 7 == 0) damaged.resize(random() % damaged.size());
    damaged.shrink_to_fit();
    const auto decoded = class_coder_codec().decode(damaged, layout, bytes_of({2}), scratch, back);
    if (!decoded) REQUIRE(decoded.error().cause == Cause::damaged);
  }
}

TEST_CASE("the class coder prints what it parses") {
  for (const char* text : {"", "smallest", "contexts", "smallest,contexts"}) {
    REQUIRE(class_coder_codec().print(*class_coder_codec().parse(text)) == text);
  }
  REQUIRE_FALSE(class_coder_codec().parse("context"));
}

TEST_CASE("top bits give the same bytes with and without AVX2, escapes and exact values included") {
  std::mt19937_64 random(9);
  for (const std::uint32_t size : {2U, 4U, 8U}) {
    const Layout layout{{ElementKind::floating, size, false}, {Shape::flat(70001)}};
    for (const auto pattern : {sample::Pattern::random, sample::Pattern::smooth,
                               sample::Pattern::specials, sample::Pattern::few}) {
      Bytes raw = sample::make(layout.type, 70001, pattern);
      for (std::size_t i = 0; i < 20000; ++i) {  // a floor that occurs often
        const std::size_t at = random() % 70001 * size;
        for (std::size_t b = 0; b < size; ++b) raw[at + b] = static_cast<std::byte>(b * 17 + 3);
      }
      for (const int parameter : {0, 3, 4, 0x12}) {
        check_both_variants(top_bits_codec(), bytes_of({parameter}), layout, raw);
      }
    }
  }
}

TEST_CASE("a value that occurs often costs top bits next to nothing") {
  Scratch scratch;
  const Layout layout{{ElementKind::floating, 8, false}, {Shape::flat(100000)}};
  Bytes raw = sample::make(layout.type, 100000, sample::Pattern::random);
  std::mt19937_64 random(10);
  std::size_t noise = 0;
  for (std::size_t i = 0; i < 100000; ++i) {
    if (random() % 4 == 0) {
      ++noise;
      continue;
    }
    for (std::size_t b = 0; b < 8; ++b) raw[i * 8 + b] = static_cast<std::byte>(0x40 + b);
  }
  Bytes stored;
  REQUIRE(top_bits_codec().encode(raw, layout, {}, scratch, stored));
  REQUIRE(stored.size() < noise * 9 + 100000 / 4);
}

}  // namespace
}  // namespace mcr::codecs
