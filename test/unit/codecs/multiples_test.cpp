// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/multiples/multiples.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "codecs/base/float_environment.hpp"
#include "codecs/base/integers.hpp"
#include "codecs/multiples/multiples_codec.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

using sample::f4;
using sample::f8;
using sample::i4;
using sample::Pattern;

constexpr ElementType i1{ElementKind::signed_integer, 1, false};
constexpr ElementType u2{ElementKind::unsigned_integer, 2, false};
constexpr ElementType i2{ElementKind::signed_integer, 2, false};
constexpr ElementType i8{ElementKind::signed_integer, 8, false};
constexpr ElementType f2{ElementKind::floating, 2, false};

Multiples step(std::uint64_t step, std::uint64_t base = 0) {
  Multiples multiples;
  multiples.step = step;
  multiples.base = base;
  return multiples;
}
Multiples over(double scale) {
  Multiples multiples;
  multiples.form = Multiples::Form::over;
  multiples.scale = scale;
  return multiples;
}
Multiples times(double scale, double origin = 0, unsigned slack = 0) {
  Multiples multiples;
  multiples.form = Multiples::Form::times;
  multiples.scale = scale;
  multiples.origin = origin;
  multiples.slack = slack;
  return multiples;
}

template <typename T>
Bytes bytes_of(const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

/// What the numbers become, after they have come back from it.
template <typename Signed, typename T>
std::vector<Signed> encoded(const Multiples& multiples, const ElementType& type,
                            const std::vector<T>& numbers) {
  static_assert(sizeof(Signed) == sizeof(T));
  REQUIRE(fits(multiples, type));
  const Bytes raw = bytes_of(numbers);
  Bytes stored(raw.size());
  Bytes back(raw.size());
  const DefaultFloatEnvironment mode;
  multiples_encode(multiples, type, raw.data(), numbers.size(), stored.data());
  multiples_decode(multiples, type, stored.data(), numbers.size(), back.data());
  REQUIRE(back == raw);
  std::vector<Signed> result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    result.push_back(load<Signed>(stored.data() + i * sizeof(Signed)));
  }
  return result;
}

TEST_CASE("multiples: the examples of the spec") {
  REQUIRE(encoded<std::int32_t>(step(100, 50), i4, std::vector<std::int32_t>{-250, 50, 250, 251}) ==
          std::vector<std::int32_t>{-3, 0, 2, 42949675});
  const std::vector<std::uint32_t> words{0x3e99999a, 0x80000000, 0x3e800000, 0x7fc00003};
  REQUIRE(encoded<std::uint32_t>(over(10), f4, words) ==
          std::vector<std::uint32_t>{3, 0xffffffff, 0xbec00000, 0xbed9999a});
}

TEST_CASE("multiples: every word of 8 and 16 bits has a number of its own under any step") {
  const auto is_bijection = [](const Multiples& multiples, const ElementType& type) {
    INFO(sample::describe({type, {}}) << " step " << multiples.step << " base " << multiples.base);
    REQUIRE(fits(multiples, type));
    const std::size_t count = std::size_t{1} << (8 * type.size);
    Bytes all(count * type.size);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t b = 0; b < type.size; ++b) {
        all[i * type.size + b] = static_cast<std::byte>(i >> (8 * b));
      }
    }
    Bytes stored(all.size());
    Bytes back(all.size());
    multiples_encode(multiples, type, all.data(), count, stored.data());
    multiples_decode(multiples, type, stored.data(), count, back.data());
    REQUIRE(back == all);
    // That it has an inverse on one side makes it one on the other, too: as many words as numbers.
    multiples_decode(multiples, type, all.data(), count, stored.data());
    multiples_encode(multiples, type, stored.data(), count, back.data());
    REQUIRE(back == all);
  };
  for (std::uint64_t s = 1; s <= 128; ++s) {
    for (std::uint64_t b = 0; b < s; b += 1 + s / 5) is_bijection(step(s, b), i1);
  }
  for (const std::uint64_t s : {1U, 2U, 3U, 8U, 100U, 255U, 4096U, 10000U, 16384U}) {
    for (const std::uint64_t b : {std::uint64_t{0}, s / 3, s - 1}) {
      is_bijection(step(s, b), i2);
      is_bijection(step(s, b), u2);
      is_bijection(step(s, b), f2);
    }
  }
}

/// Words of every kind, and those near numbers of `multiples`.
template <typename Word>
std::vector<Word> awkward_words(std::mt19937_64& random) {
  std::vector<Word> words;
  const ElementType type{ElementKind::floating, sizeof(Word), false};
  for (int p = 0; p < static_cast<int>(Pattern::last); ++p) {
    const Bytes raw = sample::make(type, 500, static_cast<Pattern>(p), static_cast<unsigned>(p));
    for (std::size_t i = 0; i < 500; ++i) words.push_back(load<Word>(&raw[i * sizeof(Word)]));
  }
  // NaNs that stand for multiples when they are met in the data, and what lies at their ends.
  const auto middle = static_cast<Word>(sizeof(Word) == 8 ? 0x7ff8000000000000 : 0x7fc00000);
  for (int i = 0; i < 3000; ++i) {
    const auto far = static_cast<Word>(random() >> (64 - (sizeof(Word) == 8 ? 51 : 22)));
    words.push_back(static_cast<Word>(middle + (far >> (random() % 40 % (8 * sizeof(Word))))));
    words.push_back(static_cast<Word>(middle - (far >> (random() % 40 % (8 * sizeof(Word))))));
  }
  return words;
}

template <typename Word>
void come_back(const ElementType& type) {
  using Float = std::conditional_t<sizeof(Word) == 8, double, float>;
  std::mt19937_64 random(17);
  const std::vector<Word> awkward = awkward_words<Word>(random);
  std::vector<Multiples> all{step(1),
                             step(4),
                             step(1000, 7),
                             over(1),
                             over(10),
                             over(0.125),
                             over(1e6),
                             over(3),
                             times(0.1),
                             times(0.0125),
                             times(1e-20),
                             times(7e8),
                             times(0.1, 273.15),
                             times(0.1, 273.15, 2),
                             times(1.0 / 3, -4, 4),
                             times(0.001, 0, 3),
                             times(0.5, -0.0, 1),
                             times(2, 1e-30),
                             times(0x1p-90),
                             times(0x1p90),
                             over(0x1p90),
                             times(0x1p-90, 0x1p-80, 8)};
  for (const Multiples& multiples : all) {
    INFO("form " << static_cast<int>(multiples.form) << " scale " << multiples.scale << " origin "
                 << multiples.origin << " slack " << multiples.slack);
    std::vector<Word> words = awkward;
    for (int i = 0; i < 5000; ++i) {
      const auto k = static_cast<std::int64_t>(random() >> (12 + random() % 52)) *
                     (random() % 2 == 0 ? 1 : -1);
      double number = static_cast<double>(k);
      if (multiples.form == Multiples::Form::over) number /= multiples.scale;
      if (multiples.form == Multiples::Form::times) {
        number = number * multiples.scale + multiples.origin;
      }
      const auto bits = std::bit_cast<Word>(static_cast<Float>(number));
      for (int off = -3; off <= 3; ++off)
        words.push_back(static_cast<Word>(bits + static_cast<Word>(off)));
    }
    (void)encoded<std::make_signed_t<Word>>(multiples, type, words);
    // Decoding is total, and its results come back to what was decoded.
    Bytes raw = bytes_of(words);
    Bytes numbers(raw.size());
    Bytes again(raw.size());
    const DefaultFloatEnvironment mode;
    multiples_decode(multiples, type, raw.data(), words.size(), numbers.data());
    multiples_encode(multiples, type, numbers.data(), words.size(), again.data());
    REQUIRE(again == raw);
  }
}

TEST_CASE("multiples: binary32 and binary64 come back under any step, whatever their bits") {
  come_back<std::uint32_t>(f4);
  come_back<std::uint64_t>(f8);
}

TEST_CASE("multiples: every binary32 that is a NaN, a denormal or an infinity comes back") {
  // All of them, since they change places with the multiples.
  const Multiples multiples = GENERATE(over(100), times(0.25, 100, 1));
  constexpr std::size_t block = 1 << 16;
  std::vector<std::uint32_t> words(block);
  std::vector<std::uint32_t> numbers(block);
  std::vector<std::uint32_t> back(block);
  const DefaultFloatEnvironment mode;
  for (const std::uint32_t top : {0x00000000U, 0x7f800000U, 0x80000000U, 0xff800000U}) {
    for (std::uint32_t begin = 0; begin < 0x00800000; begin += block) {
      for (std::uint32_t i = 0; i < block; ++i) words[i] = top + begin + i;
      multiples_encode(multiples, f4, std::as_bytes(std::span(words)).data(), block,
                       std::as_writable_bytes(std::span(numbers)).data());
      multiples_decode(multiples, f4, std::as_bytes(std::span(numbers)).data(), block,
                       std::as_writable_bytes(std::span(back)).data());
      REQUIRE(back == words);
    }
  }
}

TEST_CASE("multiples: numbers that were rounded to decimals become small integers") {
  std::vector<float> floats;
  std::vector<double> doubles;
  for (int k = -2000; k <= 2000; ++k) {
    floats.push_back(static_cast<float>(k) / 100);
    doubles.push_back(std::round(k * 1.0) / 1000);
  }
  floats.push_back(-0.0F);
  doubles.push_back(-0.0);
  const auto of_floats = encoded<std::int32_t>(over(100), f4, floats);
  const auto of_doubles = encoded<std::int64_t>(over(1000), f8, doubles);
  for (int k = -2000; k <= 2000; ++k) {
    const auto at = static_cast<std::size_t>(k + 2000);
    REQUIRE(of_floats[at] == (k < 0 ? k - 1 : k));  // -0 has -1
    REQUIRE(of_doubles[at] == (k < 0 ? k - 1 : k));
  }
  REQUIRE(of_floats.back() == -1);
  REQUIRE(of_doubles.back() == -1);
}

TEST_CASE("multiples: what no kernel can take is refused") {
  const Layout layout{f8, {Shape::flat(8)}};
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Multiples& bad :
       {over(0), over(-1), over(infinity), over(std::nan("")), over(1e300), times(1, infinity),
        times(1, std::nan("")), times(1, 1e16), times(1, 0, 9), step(0), step(3, 3),
        step((std::uint64_t{1} << 62) + 1)}) {
    REQUIRE_FALSE(fits(bad, f8));
  }
  REQUIRE_FALSE(fits(over(10), f2));
  REQUIRE_FALSE(fits(over(10), i8));
  REQUIRE_FALSE(fits(times(1, 1 << 21), f4));
  REQUIRE(fits(times(1, 1 << 20, 0), f8));
  const Codec& codec = multiples_codec();
  REQUIRE_FALSE(codec.parse("step=0"));
  REQUIRE_FALSE(codec.parse("over="));
  REQUIRE_FALSE(codec.parse("over=1x"));
  REQUIRE(codec.print(*codec.parse("over=1000")) == "over=1000");
  REQUIRE(codec.print(*codec.parse("step=100")) == "step=100");
  Bytes longer = *codec.parse("step=100");
  longer.push_back(std::byte{0});
  REQUIRE_FALSE(codec.output(layout, longer));
  REQUIRE_FALSE(codec.output({{ElementKind::bytes, 4, false}, {Shape::flat(8)}}, {}));
}

template <typename T>
std::optional<Multiples> found_in(const ElementType& type, const std::vector<T>& numbers) {
  return find_multiples(type, std::as_bytes(std::span(numbers)), false);
}

TEST_CASE("multiples: the step of numbers that have one is found, a few others among them or not") {
  std::mt19937_64 random(5);
  constexpr std::size_t count = 20000;
  const auto walk = [&](auto make) {
    std::vector<decltype(make(std::int64_t{}))> numbers;
    std::int64_t k = 5000;
    for (std::size_t i = 0; i < count; ++i) {
      k += static_cast<std::int64_t>(random() % 101) - 50;
      numbers.push_back(make(k));
    }
    return numbers;
  };
  SECTION("time stamps") {
    const auto stamps =
        walk([](std::int64_t k) { return std::int64_t{1700000000000000007} + 100 * k; });
    const auto found = found_in(i8, stamps);
    REQUIRE(found);
    REQUIRE(*found == step(100, 7));
  }
  SECTION("hundredths, missing ones among them") {
    auto numbers = walk([](std::int64_t k) { return static_cast<float>(k) / 100; });
    for (std::size_t i = 0; i < count; ++i) {
      if (i / 100 % 5 == 0) numbers[i] = 1e20F;
    }
    const auto found = found_in(f4, numbers);
    REQUIRE(found);
    REQUIRE(*found == over(100));
  }
  SECTION("twentieths") {
    REQUIRE(found_in(f8, walk([](std::int64_t k) { return static_cast<double>(k) / 20; })) ==
            over(20));
  }
  SECTION("a step that is a decimal and no power of ten") {
    const auto found =
        found_in(f8, walk([](std::int64_t k) { return static_cast<double>(k) * 0.0123; }));
    REQUIRE(found);
    // Three places after the point: 0.0123 * k is not always the number nearest to k * 123 / 10000.
    REQUIRE((*found == times(0.0123) || *found == over(10000)));
  }
  SECTION("unpacked from integers by a scale and an offset") {
    const auto found = found_in(f8, walk([](std::int64_t k) {
                                  return static_cast<double>(k) * 0.00123456789 + 241.7 / 3;
                                }));
    REQUIRE(found);
    REQUIRE(found->form == Multiples::Form::times);
    REQUIRE(std::fabs(found->scale - 0.00123456789) < 1e-15);
    REQUIRE(found->slack <= 3);
  }
  SECTION("powers of two with an origin") {
    const auto found =
        found_in(f8, walk([](std::int64_t k) {
                   return static_cast<double>(200.33F) + static_cast<double>(k) / 256;
                 }));
    REQUIRE(found);
    REQUIRE(found->scale == 1.0 / 256);
    REQUIRE(found->slack == 0);
  }
  SECTION("mantissas cut to ten bits") {
    std::vector<std::uint32_t> words;
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = static_cast<float>(std::exp(static_cast<double>(random() % 10000) / 1000));
      words.push_back(std::bit_cast<std::uint32_t>(x) >> 13 << 13);
    }
    const auto found = found_in(f4, words);
    REQUIRE(found);
    REQUIRE(*found == step(std::uint64_t{1} << 13));
  }
}

TEST_CASE("multiples: noise, few numbers and constants have no step") {
  constexpr bool reverse = std::endian::native == std::endian::big;  // samples are little-endian
  for (const ElementType& type : sample::number_types()) {
    INFO(sample::describe({type, {}}));
    for (const Pattern pattern : {Pattern::random, Pattern::few, Pattern::zeros, Pattern::ones}) {
      REQUIRE_FALSE(find_multiples(type, sample::make(type, 5000, pattern), reverse));
    }
    REQUIRE_FALSE(find_multiples(type, sample::make(type, 100, Pattern::counting), reverse));
  }
  REQUIRE_FALSE(find_multiples(f8, sample::make(f8, 5000, Pattern::smooth), reverse));
}

TEST_CASE("multiples: extremes of every kind among the numbers end the search") {
  std::mt19937_64 random(23);
  const double kinds[] = {0.0,
                          -0.0,
                          5e-324,
                          2.2e-308,
                          1e-300,
                          -1e308,
                          1.7e308,
                          1e20,
                          1.0 / 3,
                          std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()};
  for (int round = 0; round < 2000; ++round) {
    const double one = kinds[random() % std::size(kinds)];
    const double other = kinds[random() % std::size(kinds)];
    std::vector<double> doubles;
    std::vector<float> floats;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const auto k = static_cast<double>(random() % 1000);
      const double number = i % 3 == 0 ? one * k : i % 3 == 1 ? other * k : one + other * k;
      doubles.push_back(number);
      floats.push_back(static_cast<float>(number));
    }
    if (const auto found = found_in(f8, doubles)) {
      (void)encoded<std::int64_t>(*found, f8, doubles);
    }
    if (const auto found = found_in(f4, floats)) (void)encoded<std::int32_t>(*found, f4, floats);
  }
}

}  // namespace
}  // namespace mcr::codecs
