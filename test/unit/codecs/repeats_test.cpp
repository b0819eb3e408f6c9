// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/estimates/repeats.hpp"

#include <random>

#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

Bytes noise(std::size_t bytes, unsigned seed) {
  std::mt19937_64 random(seed);
  Bytes raw(bytes);
  for (std::byte& byte : raw) byte = static_cast<std::byte>(random());
  return raw;
}

TEST_CASE("noise was not seen before, in words of any size") {
  const Bytes raw = noise(1 << 20, 1);
  for (const std::size_t word_bytes : {2U, 4U, 8U}) {
    for (const std::size_t bytes : {0U, 8U, 64U, 4096U, 1U << 20}) {
      INFO(word_bytes << " " << bytes);
      REQUIRE(seen_before(word_bytes, ByteSpan(raw).first(bytes), 512).share < 0.02);
    }
  }
}

TEST_CASE("a block that comes again is seen at any distance, and as a run") {
  for (std::size_t block = 8192; block < 400000; block += block / 5) {
    for (const std::size_t word_bytes : {4U, 8U}) {
      Bytes raw = noise(block / 8 * 8, 2);
      const Bytes first = raw;
      raw.insert(raw.end(), first.begin(), first.end());
      const SeenBefore seen = seen_before(word_bytes, raw, 512);
      INFO(block << " " << word_bytes);
      REQUIRE(seen.share > 0.4);
      REQUIRE(seen.share < 0.6);
      REQUIRE(seen.runs > 0.9);
    }
  }
}

TEST_CASE("words that come again in another order are seen, but are no run") {
  constexpr std::size_t count = 40000;
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) word = random();
  auto shuffled = words;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  words.insert(words.end(), shuffled.begin(), shuffled.end());
  const SeenBefore seen = seen_before(8, std::as_bytes(std::span(words)), 512);
  REQUIRE(seen.share > 0.4);
  REQUIRE(seen.runs < 0.1);
}

TEST_CASE("one value everywhere is frequent, not seen before") {
  REQUIRE(seen_before(8, Bytes(1 << 20), 512).share == 0);
}

}  // namespace
}  // namespace mcr::codecs
