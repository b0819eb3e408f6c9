// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo against its spec, read literally; every predictor, shape and pattern there and back.
#include "codecs/lorenzo/lorenzo.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/cpu.hpp"
#include "codecs/base/words.hpp"
#include "codecs/lorenzo/lorenzo_codec.hpp"
#include "codecs/lorenzo/predictor.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace mcr::codecs {
namespace {

using sample::Pattern;

Bytes encoded(const Layout& layout, ByteSpan parameters, const Bytes& raw) {
  Scratch scratch;
  Bytes out;
  const auto result = lorenzo_codec().encode(raw, layout, parameters, scratch, out);
  if (!result) FAIL(result.error().message);
  return out;
}

Bytes decoded(const Layout& layout, ByteSpan parameters, const Bytes& stored) {
  Scratch scratch;
  Bytes raw(stored.size(), std::byte{0x77});
  const auto result = lorenzo_codec().decode(stored, layout, parameters, scratch, raw);
  if (!result) FAIL(result.error().message);
  return raw;
}

/// The spec's floating-point rules for a box of doubles, one number at a time.
std::vector<std::uint64_t> by_the_spec(const std::vector<double>& x, std::size_t planes,
                                       std::size_t rows, std::size_t columns, int dimensions) {
  std::vector<std::uint64_t> residuals;
  for (std::size_t z = 0; z < planes; ++z) {
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t c = 0; c < columns; ++c) {
        const auto n = [&](std::size_t dz, std::size_t dy, std::size_t dx) {
          if (dz > z || dy > y || dx > c) return 0.0;
          return x[((z - dz) * rows + y - dy) * columns + c - dx];
        };
        volatile double p = n(0, 1, 0) - n(0, 1, 1);
        if (dimensions == 3) {
          volatile double b = n(1, 0, 0) - n(1, 0, 1);
          volatile double bu = n(1, 1, 0) - n(1, 1, 1);
          volatile double step = b - bu;
          p = p + step;
        }
        p = n(0, 0, 1) + p;
        const double prediction = std::isnan(p) ? 0.0 : p;
        residuals.push_back(
            zigzag<std::uint64_t>(ordered_from_float(std::bit_cast<std::uint64_t>(n(0, 0, 0))) -
                                  ordered_from_float(std::bit_cast<std::uint64_t>(prediction))));
      }
    }
  }
  return residuals;
}

TEST_CASE("floating-point Lorenzo is what the spec says, number by number") {
  for (const auto pattern : {Pattern::smooth, Pattern::specials, Pattern::random, Pattern::few}) {
    const ElementType type{ElementKind::floating, 8, false};
    for (const Shape& shape : {Shape{3, {3, 9, 7}}, Shape{3, {2, 4, 1}}, Shape{3, {1, 5, 3}},
                               Shape{2, {13, 6}}, Shape{2, {4, 2}}}) {
      const Layout layout{type, {shape}};
      const Bytes raw = sample::make(type, static_cast<std::size_t>(shape.count()), pattern, 4);
      std::vector<double> numbers(raw.size() / 8);
      std::memcpy(numbers.data(), raw.data(), raw.size());
      const bool box = shape.rank == 3;
      const auto expected =
          by_the_spec(numbers, box ? shape.extent[0] : 1, shape.extent[shape.rank - 2U],
                      shape.extent[shape.rank - 1U], shape.rank);
      const Bytes stored = encoded(layout, {}, raw);
      REQUIRE(std::memcmp(stored.data(), expected.data(), stored.size()) == 0);
    }
  }
}

TEST_CASE("a fourth dimension makes boxes of their own, whatever the order") {
  const ElementType type{ElementKind::floating, 8, false};
  const Bytes raw = sample::make(type, 3 * 5 * 4 * 6, Pattern::smooth, 9);
  const Predictor predictor{3, true, false, 2};
  const Bytes parameters{static_cast<std::byte>(predictor.byte())};
  const Bytes together = encoded({type, {{4, {3, 5, 4, 6}}}}, parameters, raw);
  const Shape box{3, {5, 4, 6}};
  CHECK(encoded({type, {box, box, box}}, parameters, raw) == together);
}

TEST_CASE("the worked example of an order of Lorenzo's spec holds") {
  const Layout layout{{ElementKind::signed_integer, 4, false}, {Shape::flat(4)}};
  const std::vector<std::int32_t> numbers{10, 11, 13, 20};
  const std::vector<std::uint32_t> residuals{20, 2, 2, 10};
  Bytes raw(16);
  std::memcpy(raw.data(), numbers.data(), 16);
  const auto parameters = lorenzo_codec().parse("1,integer,order2");
  REQUIRE(parameters);
  const Bytes stored = encoded(layout, *parameters, raw);
  REQUIRE(std::memcmp(stored.data(), residuals.data(), 16) == 0);
  CHECK(lorenzo_codec().print(*parameters) == "1,integer,order2");
  for (const char* text : {"1,order5", "order3", "0,order2", "2,order4", "1,order0"})
    CHECK_FALSE(lorenzo_codec().parse(text));
}

TEST_CASE("the worked example of Lorenzo's spec holds") {
  const Layout layout{{ElementKind::signed_integer, 4, false}, {{2, {2, 3}}}};
  const std::vector<std::int32_t> numbers{10, 11, 13, 20, 21, 24};
  const std::vector<std::uint32_t> residuals{20, 2, 4, 20, 0, 2};
  Bytes raw(24);
  std::memcpy(raw.data(), numbers.data(), 24);
  const Bytes stored = encoded(layout, {}, raw);
  REQUIRE(std::memcmp(stored.data(), residuals.data(), 24) == 0);
}

TEST_CASE(
    "every predictor returns every pattern in every shape, with the same bytes without AVX2") {
  for (const ElementType& type : sample::number_types()) {
    for (const auto& bricks : sample::odd_shapes()) {
      const Layout layout{type, bricks};
      const auto count = static_cast<std::size_t>(layout.count());
      for (int p = 0; p < static_cast<int>(Pattern::last); ++p) {
        const Bytes raw = sample::make(type, count, static_cast<Pattern>(p), 7);
        for (unsigned byte = 0; byte < 256; ++byte) {
          const Bytes parameters{static_cast<std::byte>(byte)};
          const unsigned highest[] = {1, 4, 2, 2};  // order, by dimensions
          const bool is_predictor = (byte >> 4) < highest[byte & 3];
          const bool predicts_numbers =
              (byte & 4) == 0 || (type.kind == ElementKind::floating && type.size >= 4);
          REQUIRE(lorenzo_codec().output(layout, parameters).has_value() ==
                  (is_predictor && predicts_numbers));
          if (!is_predictor || !predicts_numbers) continue;
          const Bytes stored = encoded(layout, parameters, raw);
          cpu::use_portable_only(true);
          const Bytes portable = encoded(layout, parameters, raw);
          const Bytes back_portable = decoded(layout, parameters, stored);
          cpu::use_portable_only(false);
          REQUIRE(portable == stored);
          REQUIRE(back_portable == raw);
          REQUIRE(decoded(layout, parameters, stored) == raw);
        }
      }
    }
  }
}

TEST_CASE("rows of every small size come back: the wavefront starts and ends ragged") {
  for (const std::uint32_t size : {4U, 8U}) {
    const ElementType type{ElementKind::floating, size, false};
    for (std::uint32_t rows = 1; rows <= 9; ++rows) {
      for (std::uint32_t columns = 1; columns <= 9; ++columns) {
        const Layout layout{type, {{3, {3, rows, columns}}, {2, {rows, columns}}}};
        const Bytes raw =
            sample::make(type, static_cast<std::size_t>(layout.count()), Pattern::smooth, rows);
        REQUIRE(decoded(layout, {}, encoded(layout, {}, raw)) == raw);
      }
    }
  }
}

TEST_CASE("flat bricks of k*k*k numbers are cubes if asked") {
  const ElementType type{ElementKind::floating, 8, false};
  const Predictor cube{3, true, true};
  const BrickView view = view_of(Shape::flat(2197), type, cube);
  REQUIRE(view.dimensions == 3);
  REQUIRE(view.box.planes == 13);
  REQUIRE(view_of(Shape::flat(144), type, cube).dimensions == 2);
  REQUIRE(view_of(Shape::flat(145), type, cube).dimensions == 1);
  REQUIRE(view_of(Shape::flat(1), type, cube).dimensions == 1);
  REQUIRE(view_of(Shape::flat(0), type, cube).box.count() == 0);
  const Layout cubes{type, {Shape::flat(2197), Shape::flat(100)}};
  const Bytes raw = sample::make(type, 2297, Pattern::smooth);
  const Bytes parameters{static_cast<std::byte>(cube.byte())};
  REQUIRE(decoded(cubes, parameters, encoded(cubes, parameters, raw)) == raw);
}

TEST_CASE("the state of the processor's floating-point unit changes nothing") {
  const ElementType type{ElementKind::floating, 4, false};
  const Layout layout{type, {{3, {8, 8, 8}}}};
  Bytes raw(512 * 4);
  for (std::size_t i = 0; i < 512; ++i) {  // a field of denormals, with infinities among them
    store(raw.data() + 4 * i, i % 97 == 5 ? 0x7f800000U : static_cast<std::uint32_t>(i * i % 1000));
  }
  const Bytes stored = encoded(layout, {}, raw);
  std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before | 0x8040U) & ~0x0080U);  // flush denormals, trap invalid operations
#endif
  const Bytes again = encoded(layout, {}, raw);
  const Bytes back = decoded(layout, {}, stored);
#if defined(__x86_64__)
  REQUIRE((_mm_getcsr() & 0x8040U) == 0x8040U);
  _mm_setcsr(before);
#endif
  REQUIRE(std::fegetround() == FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  REQUIRE(again == stored);
  REQUIRE(back == raw);
}

TEST_CASE("predictors are chosen by what the data is") {
  const ElementType type{ElementKind::floating, 8, false};
  const Layout layout{type, {{3, {16, 16, 16}}}};
  Bytes smooth(4096 * 8);
  for (std::size_t i = 0; i < 4096; ++i) {  // signed and smooth in three dimensions
    const auto z = static_cast<double>(i / 256);
    const auto y = static_cast<double>(i / 16 % 16);
    const auto x = static_cast<double>(i % 16);
    store(smooth.data() + 8 * i, 1e-3 * (x - 7.3) * (y - 8.1) + 0.02 * (z - 6.2) * (x - 9.7) + 0.5);
  }
  const Bytes chosen = choose_predictors(layout, smooth);
  REQUIRE(chosen.size() == 1);
  const auto predictor = Predictor::from_byte(std::to_integer<std::uint8_t>(chosen[0]));
  REQUIRE(predictor);
  REQUIRE(predictor->floating);
  REQUIRE(predictor->dimensions >= 2);
  // Half of the bricks smooth, half constant along nothing but their flat index.
  Layout mixed{type, {}};
  Bytes raw;
  std::mt19937_64 random(2);
  for (int b = 0; b < 20; ++b) {
    mixed.bricks.push_back({3, {16, 16, 16}});
    if (b % 2 == 0) {
      raw.insert(raw.end(), smooth.begin(), smooth.end());
    } else {
      const Bytes noise = sample::make(type, 4096, Pattern::random, static_cast<unsigned>(b));
      raw.insert(raw.end(), noise.begin(), noise.end());
    }
  }
  const Bytes each = choose_predictors(mixed, raw);
  REQUIRE(lorenzo_codec().output(mixed, each));
  REQUIRE(decoded(mixed, each, encoded(mixed, each, raw)) == raw);
  REQUIRE(*lorenzo_codec().parse(lorenzo_codec().print(each)) == each);
}

TEST_CASE("what is smooth along its rows is predicted by an order above 1") {
  for (const std::uint32_t size : {4U, 8U}) {
    const ElementType type{ElementKind::floating, size, false};
    const Layout layout{type, {Shape::flat(20000)}};
    Bytes raw(20000 * size);
    for (std::size_t i = 0; i < 20000; ++i) {
      const double number = 20 + 5 * std::sin(static_cast<double>(i) / 130);
      size == 8 ? store(raw.data() + 8 * i, number)
                : store(raw.data() + 4 * i, static_cast<float>(number));
    }
    const Bytes chosen = choose_predictors(layout, raw);
    REQUIRE(chosen.size() == 1);
    const auto predictor = Predictor::from_byte(std::to_integer<std::uint8_t>(chosen[0]));
    REQUIRE(predictor);
    CHECK(predictor->order > 1);
    CHECK(decoded(layout, chosen, encoded(layout, chosen, raw)) == raw);
  }
}

TEST_CASE("choosing predictors survives odd layouts and all types") {
  for (const ElementType& type : sample::number_types()) {
    for (const auto& bricks : sample::odd_shapes()) {
      const Layout layout{type, bricks};
      const Bytes raw =
          sample::make(type, static_cast<std::size_t>(layout.count()), Pattern::specials);
      const Bytes chosen = choose_predictors(layout, raw);
      REQUIRE(lorenzo_codec().output(layout, chosen));
    }
  }
}

}  // namespace
}  // namespace mcr::codecs
