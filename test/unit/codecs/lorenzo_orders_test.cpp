// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo's orders above 1 against the spec, read literally, one number at a time: for each
// arithmetic, boxes of many shapes, and any bits as numbers and as residuals.
#include <bit>
#include <cmath>
#include <random>

#include "codecs/base/cpu.hpp"
#include "codecs/base/words.hpp"
#include "codecs/lorenzo/lorenzo_codec.hpp"
#include "codecs/lorenzo/predictor.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

using sample::Pattern;

template <typename Number>
constexpr bool is_floating = std::is_floating_point_v<Number>;
template <typename Number>
using WordOf =
    std::conditional_t<std::is_same_v<Number, double>, std::uint64_t,
                       std::conditional_t<std::is_same_v<Number, float>, std::uint32_t, Number>>;

/// The spec for one box: takes its numbers or residuals in order, and returns the others.
template <typename Number>
class ByTheSpec {
 public:
  using Word = WordOf<Number>;

  /// `shape` has as many extents as the predictor has dimensions.
  ByTheSpec(const Shape& shape, std::size_t order)
      : rows_(shape.rank > 1 ? shape.extent[shape.rank - 2U] : 1),
        columns_(shape.extent[shape.rank - 1U]),
        order_(order) {}

  Word residual_of(Word number) {
    const Word difference = static_cast<Word>(ordered(number) - ordered(prediction()));
    append(number);
    return zigzag(difference);
  }
  Word number_of(Word residual) {
    const auto sum = static_cast<Word>(ordered(prediction()) + unzigzag(residual));
    Word number = sum;
    if constexpr (is_floating<Number>) number = float_from_ordered(sum);
    append(number);
    return number;
  }

 private:
  static Number plus(Number a, Number b) {
    volatile Number sum = static_cast<Number>(a + b);
    return sum;
  }
  static Number minus(Number a, Number b) {
    volatile Number difference = static_cast<Number>(a - b);
    return difference;
  }
  static Number regular(Number a) {
    if constexpr (is_floating<Number>) return std::isfinite(a) ? a : Number{0};
    return a;
  }
  static Word ordered(Word number) {
    if constexpr (is_floating<Number>) return ordered_from_float(number);
    return number;
  }

  /// F of spec.md, by its definition.
  static Number going_on(Number q, const std::vector<Number>& near) {
    const std::size_t n = near.size();
    if (n == 0) return q;
    const Number level = plus(q, near[0]);
    if (n == 1) return level;
    const Number ab = minus(near[0], near[1]);
    const Number line = plus(level, ab);
    if (n == 2) return line;
    const Number bc = minus(near[1], near[2]);
    const Number bend = minus(ab, bc);
    if (n == 3) return plus(line, bend);
    const Number older = plus(bc, minus(bc, minus(near[2], near[3])));
    return plus(line, plus(bend, minus(ab, older)));
  }

  /// The last numbers of `of` before the next one, in steps of `step`.
  [[nodiscard]] std::vector<Number> before(const std::vector<Number>& of, std::size_t place,
                                           std::size_t step) const {
    std::vector<Number> near;
    for (std::size_t k = 1; k <= std::min(order_, place); ++k)
      near.push_back(of[of.size() - k * step]);
    return near;
  }

  /// Computes T and Q of the next number, and returns the prediction.
  Word prediction() {
    const std::size_t i = x_.size();
    t_ = going_on(0, before(x_, i / columns_ / rows_, rows_ * columns_));
    q_ = going_on(t_, before(g_, i / columns_ % rows_, columns_));
    Number p = going_on(q_, before(r_, i % columns_, 1));
    if constexpr (is_floating<Number>) {
      if (std::isnan(p)) p = 0;
    }
    return std::bit_cast<Word>(p);
  }
  void append(Word word) {
    const auto number = std::bit_cast<Number>(word);
    x_.push_back(number);
    g_.push_back(regular(minus(number, t_)));
    r_.push_back(regular(minus(number, q_)));
  }

  std::size_t rows_;
  std::size_t columns_;
  std::size_t order_;
  Number t_ = 0;
  Number q_ = 0;
  std::vector<Number> x_;
  std::vector<Number> g_;
  std::vector<Number> r_;
};

Bytes coded(bool encode, const Layout& layout, ByteSpan parameters, const Bytes& from) {
  Scratch scratch;
  Bytes to(encode ? 0 : from.size(), std::byte{0x77});
  const auto result = encode ? lorenzo_codec().encode(from, layout, parameters, scratch, to)
                             : lorenzo_codec().decode(from, layout, parameters, scratch, to);
  if (!result) FAIL(result.error().message);
  return to;
}

/// Checks that encoder and decoder, with and without AVX2, go from `numbers` to `residuals` and
/// back.
void check_both_ways(const Layout& layout, ByteSpan parameters, const Bytes& numbers,
                     const Bytes& residuals) {
  for (const bool portable : {false, true}) {
    cpu::use_portable_only(portable);
    const Bytes stored = coded(true, layout, parameters, numbers);
    const Bytes back = coded(false, layout, parameters, residuals);
    cpu::use_portable_only(false);
    REQUIRE(stored == residuals);
    REQUIRE(back == numbers);
  }
}

/// Words of all widths, so that some predictions overflow, and some are exact.
template <typename Word>
Word any_word(std::mt19937_64& random) {
  const unsigned width = 1 + static_cast<unsigned>(random() % word_bits<Word>);
  return static_cast<Word>(static_cast<Word>(random()) >> (word_bits<Word> - width));
}

/// Checks one layout of bricks with the rank that the predictor has, with numbers of `pattern`, or
/// with any residuals for Pattern::last.
template <typename Number>
void check_layout(const std::vector<Shape>& bricks, std::uint8_t order, Pattern pattern,
                  unsigned seed) {
  using Word = WordOf<Number>;
  const ElementType type{
      is_floating<Number> ? ElementKind::floating : ElementKind::unsigned_integer, sizeof(Word),
      false};
  const Layout layout{type, bricks};
  const bool any = pattern == Pattern::last;
  Bytes numbers(static_cast<std::size_t>(layout.raw_bytes()));
  if (!any) numbers = sample::make(type, numbers.size() / sizeof(Word), pattern, seed);
  Bytes residuals(numbers.size());
  std::mt19937_64 random(seed);
  std::size_t offset = 0;
  for (const Shape& shape : bricks) {
    ByTheSpec<Number> spec(shape, order);
    for (std::size_t i = 0; i < shape.count(); ++i, offset += sizeof(Word)) {
      const Word residual =
          any ? any_word<Word>(random) : spec.residual_of(load<Word>(numbers.data() + offset));
      if (any) store(numbers.data() + offset, spec.number_of(residual));
      store(residuals.data() + offset, residual);
    }
  }
  const Shape& shape = bricks[0];
  const Predictor predictor{shape.rank, is_floating<Number>, false, order};
  INFO("bytes " << sizeof(Word) << " floating " << is_floating<Number> << " order " << int{order}
                << " pattern " << static_cast<int>(pattern) << " rank " << int{shape.rank}
                << " extents " << shape.extent[0] << ' ' << shape.extent[1] << ' '
                << shape.extent[2]);
  check_both_ways(layout, Bytes{static_cast<std::byte>(predictor.byte())}, numbers, residuals);
}

/// Checks bricks with all orders; bricks and orders take turns with the patterns.
template <typename Number>
void check_bricks(const std::vector<Shape>& bricks, unsigned turn) {
  constexpr unsigned patterns = static_cast<unsigned>(Pattern::last) + 1;
  for (std::uint8_t order = 2; order <= (bricks[0].rank == 1 ? 4 : 2); ++order) {
    check_layout<Number>(bricks, order, Pattern::last, turn);
    const auto pattern = static_cast<Pattern>((turn + order) % patterns);
    check_layout<Number>(bricks, order, pattern, turn);
  }
}

template <typename Number>
void check_shapes() {
  unsigned turn = 0;
  for (std::uint32_t columns = 1; columns <= 70; ++columns) {
    const Shape row = Shape::flat(columns);
    const Shape other = Shape::flat(columns * 7 % 31 + 1);
    check_bricks<Number>({row}, turn++);
    check_bricks<Number>({row, other}, turn++);
    check_bricks<Number>({row, row, other}, turn++);
    for (const std::uint32_t rows : {1U, 2U, 3U, 4U, 5U, 6U, 8U, 9U}) {
      check_bricks<Number>({{2, {rows, columns}}}, turn++);
      for (const std::uint32_t planes : {1U, 2U, 3U, 4U}) {
        check_bricks<Number>({{3, {planes, rows, columns}}}, turn++);
      }
    }
  }
}

TEST_CASE("orders above 1 are what the spec says, number by number: integers") {
  check_shapes<std::uint8_t>();
  check_shapes<std::uint16_t>();
  check_shapes<std::uint32_t>();
  check_shapes<std::uint64_t>();
}

TEST_CASE("orders above 1 are what the spec says, number by number: floating point") {
  check_shapes<float>();
  check_shapes<double>();
}

TEST_CASE("orders above 1 are what the spec says, number by number: every pattern") {
  for (int p = 0; p <= static_cast<int>(Pattern::last); ++p) {
    for (const Shape& shape : {Shape{3, {5, 9, 7}}, Shape{3, {2, 4, 1}}, Shape{3, {1, 5, 3}},
                               Shape{2, {13, 6}}, Shape{2, {4, 2}}, Shape::flat(500)}) {
      for (std::uint8_t order = 2; order <= (shape.rank == 1 ? 4 : 2); ++order) {
        check_layout<float>({shape, shape, shape}, order, static_cast<Pattern>(p), 4);
        check_layout<double>({shape, shape, shape}, order, static_cast<Pattern>(p), 4);
      }
    }
  }
}

TEST_CASE("bricks come back whatever the predictors of the bricks beside them") {
  std::mt19937_64 random(3);
  const Predictor predictors[] = {{1, true, false, 2}, {1, true, false, 2},  {1, true, false, 3},
                                  {1, true, false, 4}, {1, false, false, 3}, {2, true, false, 2}};
  for (int round = 0; round < 200; ++round) {
    Layout layout{sample::f8, {}};
    Bytes parameters;
    Bytes numbers;
    Bytes residuals;
    for (std::uint64_t b = 0; b < 2 + random() % 6; ++b) {
      const auto columns = static_cast<std::uint32_t>(random() % 40);
      const Shape shape = random() % 2 == 0 ? Shape::flat(columns) : Shape{2, {3, columns}};
      const Bytes predictor{static_cast<std::byte>(predictors[random() % 6].byte())};
      const Bytes brick = sample::make(sample::f8, static_cast<std::size_t>(shape.count()),
                                       Pattern::specials, static_cast<unsigned>(random()));
      const Bytes alone = coded(true, {sample::f8, {shape}}, predictor, brick);
      layout.bricks.push_back(shape);
      parameters.push_back(predictor[0]);
      numbers.insert(numbers.end(), brick.begin(), brick.end());
      residuals.insert(residuals.end(), alone.begin(), alone.end());
    }
    check_both_ways(layout, parameters, numbers, residuals);
  }
}

}  // namespace
}  // namespace mcr::codecs
