// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/word_candidates/word_candidates.hpp"

#include <limits>
#include <random>

#include "codecs/base/float_environment.hpp"
#include "codecs/references/axis_order.hpp"
#include "codecs/word_candidates/range_coder.hpp"
#include "codecs/word_candidates/raw_bits.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs::words {
namespace {

template <typename T>
std::vector<T> patterned(std::size_t count, unsigned pattern, unsigned seed) {
  using Float = std::conditional_t<sizeof(T) == 8, double, float>;
  std::mt19937_64 random(seed);
  std::vector<T> words(count);
  const Float special[] = {Float(0),
                           -Float(0),
                           std::numeric_limits<Float>::infinity(),
                           -std::numeric_limits<Float>::infinity(),
                           std::numeric_limits<Float>::quiet_NaN(),
                           std::numeric_limits<Float>::denorm_min(),
                           std::numeric_limits<Float>::max(),
                           std::numeric_limits<Float>::lowest()};
  for (std::size_t i = 0; i < count; ++i) {
    switch (pattern) {
      case 0:
        words[i] = static_cast<T>(random());
        break;
      case 1:
        words[i] = std::bit_cast<T>(static_cast<Float>(1 + 0.001 * static_cast<double>(i)));
        break;
      case 2:
        words[i] = std::bit_cast<T>(special[random() % 8]);
        break;
      case 3:
        words[i] = T{42};
        break;
      default:
        words[i] = random() % 3 == 0 ? static_cast<T>(random()) : T{0};
        break;
    }
  }
  return words;
}

/// Predictions of every kind for a brick in `box`.
template <typename T>
struct Everything {
  std::vector<T> near;
  std::vector<std::uint32_t> partner;
  std::vector<Prediction<T>> predictions;

  Everything(const std::vector<T>& words, const Box& box, std::size_t limit) : near(words) {
    for (std::size_t i = 0; i < near.size(); i += 3) near[i] = static_cast<T>(near[i] + i % 5);
    partner.resize(words.size());
    const AxisOrder order = fits(box, box, 1) ? 1 : 0;
    gather_index(box, box, order, partner);
    using Kind = typename Prediction<T>::Kind;
    predictions.push_back({Kind::array, 0, near.data(), nullptr});
    predictions.push_back({Kind::partner, 0, nullptr, partner.data()});
    predictions.push_back({Kind::neighbours, 7, nullptr, nullptr});
    predictions.push_back({Kind::neighbours, 3, nullptr, nullptr});
    predictions.push_back({Kind::neighbours, 1, nullptr, nullptr});
    predictions.push_back({});
    predictions.resize(std::min(predictions.size(), limit));
  }
};

template <typename T>
void round_trip(Coding coding, Numbers numbers, std::size_t count, unsigned pattern) {
  INFO(sizeof(T) << " bytes, " << count << " words, pattern " << pattern);
  const Box box = box_of(Shape::flat(static_cast<std::uint32_t>(count)));
  const auto words = patterned<T>(count, pattern, 7);
  const Everything<T> everything(words, box, max_predictions(coding));
  const DefaultFloatEnvironment environment;
  Scratch scratch;
  const auto encoder = new_encoder<T>(coding, numbers);
  encoder->brick(words, {box, everything.predictions});
  encoder->brick(words, {box, std::span(everything.predictions).last(1)});
  Bytes stored;
  REQUIRE(encoder->finish(3, scratch, stored));
  auto decoder = new_decoder<T>(stored, count * 2, numbers, scratch);
  REQUIRE(decoder);
  std::vector<T> decoded(count);
  REQUIRE((*decoder)->brick(decoded, {box, everything.predictions}));
  REQUIRE(decoded == words);
  REQUIRE((*decoder)->brick(decoded, {box, std::span(everything.predictions).last(1)}));
  REQUIRE(decoded == words);
  REQUIRE((*decoder)->end());
}

TEST_CASE("words come back under every kind of prediction, pattern, size and coding") {
  for (const Coding coding : {Coding::fast, Coding::strong}) {
    for (const Numbers numbers : {Numbers::integer, Numbers::floating}) {
      for (unsigned pattern = 0; pattern < 5; ++pattern) {
        for (std::size_t count = 0; count <= 130; ++count) {
          round_trip<std::uint64_t>(coding, numbers, count, pattern);
          round_trip<std::uint32_t>(coding, numbers, count, pattern);
        }
        round_trip<std::uint64_t>(coding, numbers, 12 * 12 * 12, pattern);
        round_trip<std::uint32_t>(coding, numbers, 3000, pattern);
      }
    }
  }
}

template <typename T>
void follow_in_runs(Numbers numbers, const Box& box, unsigned pattern) {
  const std::size_t count = std::size_t{box[0]} * box[1] * box[2];
  const auto start = patterned<T>(count, pattern, 3);
  const Everything<T> everything(start, box, 6);
  const DefaultFloatEnvironment environment;
  std::mt19937_64 random(13);
  for (const Prediction<T>& prediction : everything.predictions) {
    // Stretches that are predicted, and words between them that are not: once word by word, once
    // each stretch at a time.
    auto singly = start;
    auto in_runs = start;
    Walk<T> one(numbers, box, singly.data());
    Walk<T> many(numbers, box, in_runs.data());
    while (one.at() < count) {
      const auto run = std::min<std::size_t>(1 + random() % (3 * box[2] + 1), count - one.at());
      for (std::size_t i = 0; i < run; ++i, one.next()) singly[one.at()] = one.predict(prediction);
      many.follow(prediction, run, in_runs.data());
      if (one.at() == count) break;
      one.next();
      many.next();
    }
    REQUIRE(many.at() == count);
    REQUIRE(in_runs == singly);
  }
}

TEST_CASE("a run of predicted words is the same as each word by itself") {
  for (const Box& box : {Box{1, 1, 40}, Box{1, 9, 7}, Box{7, 1, 9}, Box{5, 6, 1}, Box{4, 5, 6}}) {
    for (unsigned pattern = 0; pattern < 5; ++pattern) {
      for (const Numbers numbers : {Numbers::integer, Numbers::floating}) {
        follow_in_runs<std::uint64_t>(numbers, box, pattern);
        follow_in_runs<std::uint32_t>(numbers, box, pattern);
      }
    }
  }
}

TEST_CASE("damaged words give an error or other words, never more") {
  const Box box{9, 9, 9};
  const auto words = patterned<std::uint64_t>(729, 4, 7);
  std::mt19937_64 random(11);
  for (const Coding coding : {Coding::fast, Coding::strong}) {
    const Everything<std::uint64_t> everything(words, box, max_predictions(coding));
    Scratch scratch;
    const auto encoder = new_encoder<std::uint64_t>(coding, Numbers::floating);
    encoder->brick(words, {box, everything.predictions});
    Bytes stored;
    REQUIRE(encoder->finish(3, scratch, stored));
    const auto try_decode = [&](ByteSpan bytes) {
      auto decoder = new_decoder<std::uint64_t>(bytes, 729, Numbers::floating, scratch);
      if (!decoder) return;
      std::vector<std::uint64_t> decoded(729);
      if (!(*decoder)->brick(decoded, {box, everything.predictions})) return;
      if ((*decoder)->end()) REQUIRE(decoded.size() == 729);
    };
    for (std::size_t length = 0; length < stored.size(); length += 7) {
      try_decode(ByteSpan(stored).first(length));
    }
    for (int i = 0; i < 500; ++i) {
      Bytes damaged = stored;
      damaged[random() % damaged.size()] ^= static_cast<std::byte>(1U << random() % 8);
      try_decode(damaged);
    }
  }
}

TEST_CASE("differences of words are undone, and are zero only between equal words") {
  std::mt19937_64 random(5);
  for (const Numbers numbers : {Numbers::integer, Numbers::floating}) {
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t a = random();
      const std::uint64_t b = i % 4 == 0 ? a ^ (std::uint64_t{1} << i % 64) : random();
      REQUIRE(restored(numbers, difference(numbers, a, b), b) == a);
      REQUIRE((difference(numbers, a, b) == 0) == (a == b));
    }
  }
  const auto word = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  CHECK(difference(Numbers::floating, word(0.0), word(-0.0)) == 2);
}

TEST_CASE("decisions and raw bits come back in order") {
  std::mt19937_64 random(9);
  Bytes coded;
  RangeEncoder encoder(coded);
  RawWriter raw;
  std::vector<unsigned> bits;
  std::vector<std::pair<std::uint64_t, unsigned>> numbers;
  Bit models[4];
  for (int i = 0; i < 50000; ++i) {
    bits.push_back(random() % (i % 4 == 3 ? 2000 : 2) == 0 ? 1 : 0);
    encoder.encode(models[i % 4], bits.back());
    const auto count = static_cast<unsigned>(random() % 64);
    numbers.emplace_back(random() & ((std::uint64_t{1} << count) - 1), count);
    raw.put(numbers.back().first, count);
  }
  encoder.finish();
  const Bytes raw_bytes = raw.finish();
  RangeDecoder decoder(coded);
  RawReader reader(raw_bytes);
  Bit again[4];
  for (std::size_t i = 0; i < bits.size(); ++i) {
    REQUIRE(decoder.decode(again[i % 4]) == bits[i]);
    REQUIRE(reader.take(numbers[i].second) == numbers[i].first);
  }
  CHECK(decoder.ended());
  CHECK(reader.ended());
  CHECK_FALSE(decoder.overrun());
}

}  // namespace
}  // namespace mcr::codecs::words
