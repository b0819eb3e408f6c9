// SPDX-License-Identifier: BSD-3-Clause
// What single transforms make of numbers; that they come back is every_codec_test's matter.
#include <bit>
#include <cmath>
#include <limits>

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/registry.hpp"
#include "codecs/base/words.hpp"
#include "codecs/constant/constant_codec.hpp"
#include "codecs/delta/delta.hpp"
#include "codecs/ordered_int/ordered_int.hpp"
#include "codecs/structure_split/structure_split.hpp"
#include "codecs/structure_split/structure_split_codec.hpp"
#include "codecs/zigzag/zigzag.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

template <typename T>
std::vector<T> through(void (*kernel)(std::size_t, const std::byte*, std::size_t, std::byte*),
                       const std::vector<T>& from) {
  std::vector<T> to(from.size());
  kernel(sizeof(T), reinterpret_cast<const std::byte*>(from.data()), from.size(),
         reinterpret_cast<std::byte*>(to.data()));
  return to;
}

TEST_CASE("ordered_int keeps the order of floating-point numbers and tells -0 from 0") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> rising{-inf, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1e300, inf};
  std::vector<std::uint64_t> bits;
  for (const double value : rising) bits.push_back(std::bit_cast<std::uint64_t>(value));
  const auto ordered = through(ordered_float_encode, bits);
  for (std::size_t i = 1; i < ordered.size(); ++i) REQUIRE(ordered[i - 1] < ordered[i]);
  REQUIRE(ordered[5] - ordered[4] == 1);
  REQUIRE(through(ordered_float_decode, ordered) == bits);
}

TEST_CASE("ordered_int maps the spec's examples") {
  const std::vector<std::uint32_t> bits{0x3f800000, 0x80000000, 0xbf800000};
  REQUIRE(through(ordered_float_encode, bits) ==
          std::vector<std::uint32_t>{0xbf800000, 0x7fffffff, 0x407fffff});
}

TEST_CASE("delta and zigzag map the spec's examples") {
  REQUIRE(through<std::uint8_t>(delta_encode, {10, 12, 11, 11, 255}) ==
          std::vector<std::uint8_t>{10, 2, 255, 0, 244});
  REQUIRE(through<std::int8_t>(zigzag_encode, {0, -1, 1, -128, 127}) ==
          std::vector<std::int8_t>{0, 1, 2, -1, -2});
}

TEST_CASE("zigzag of every 16-bit word comes back and small ones stay small") {
  for (int value = -32768; value <= 32767; ++value) {
    const auto word = static_cast<std::uint16_t>(value);
    REQUIRE(unzigzag(zigzag(word)) == word);
    REQUIRE(zigzag(word) == (value >= 0 ? 2 * value : -2 * value - 1));
    REQUIRE(float_from_ordered(ordered_from_float(word)) == word);
  }
}

TEST_CASE("structure_split makes a brick of each component") {
  const Layout layout{{ElementKind::floating, 8, false},
                      {{2, {2, 3}}, {3, {2, 5, 2}}, {2, {4, 17}}}};
  const auto after = structure_split_codec().output(layout, {});
  REQUIRE(after);
  REQUIRE(after->bricks.size() == 6);
  REQUIRE(after->bricks[0] == Shape::flat(2));
  REQUIRE(after->bricks[3] == Shape{2, {2, 5}});
  REQUIRE(after->bricks[5] == layout.bricks[2]);
  REQUIRE(after->raw_bytes() == layout.raw_bytes());
}

TEST_CASE("structure_split takes members of a compound type") {
  Scratch scratch;
  const Codec& codec = structure_split_codec();
  const auto parameters = codec.parse("f8");
  REQUIRE(parameters);
  REQUIRE(codec.print(*parameters) == "f8");
  const Layout layout{{ElementKind::bytes, 24, false}, {Shape::flat(10), {2, {3, 5}}}};
  const auto after = codec.output(layout, *parameters);
  REQUIRE(after);
  REQUIRE(after->type == ElementType{ElementKind::floating, 8, false});
  REQUIRE(after->bricks.size() == 6);
  const Bytes raw = sample::make(layout.type, 25, sample::Pattern::random);
  Bytes split;
  REQUIRE(codec.encode(raw, layout, *parameters, scratch, split));
  Bytes back(raw.size());
  REQUIRE(codec.decode(split, layout, *parameters, scratch, back));
  REQUIRE(back == raw);
  for (std::size_t b = 0; b < 8; ++b) REQUIRE(split[8 + b] == raw[24 + b]);  // second x
  REQUIRE_FALSE(codec.output({{ElementKind::bytes, 12, false}, {}}, *parameters));
}

TEST_CASE("constant takes what is constant and nothing else") {
  Scratch scratch;
  const Layout layout{{ElementKind::bytes, 3, false}, {Shape::flat(500)}};
  Bytes raw(1500);
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<std::byte>(i % 3);
  Bytes stored;
  REQUIRE(constant_codec().encode(raw, layout, {}, scratch, stored));
  REQUIRE(stored.size() == 3);
  raw[1400] = std::byte{9};
  REQUIRE_FALSE(constant_codec().encode(raw, layout, {}, scratch, stored));
}

TEST_CASE("a pipeline of transforms comes back for every type of number") {
  Scratch scratch;
  auto pipeline = Pipeline::parse("structure_split|ordered_int|delta|zigzag|transpose|entropy");
  REQUIRE(pipeline);
  for (const ElementType& type : sample::number_types()) {
    for (const auto& bricks : sample::odd_shapes()) {
      const Layout layout{type, bricks};
      const Bytes raw =
          sample::make(type, static_cast<std::size_t>(layout.count()), sample::Pattern::specials);
      Bytes stored;
      std::vector<std::uint64_t> coded;
      REQUIRE(run_encode(*pipeline, raw, layout, scratch, stored, coded));
      Bytes back(raw.size());
      REQUIRE(run_decode(*pipeline, stored, layout, coded, scratch, back));
      REQUIRE(back == raw);
    }
  }
}

}  // namespace
}  // namespace mcr::codecs
