// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/entropy/entropy.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "codecs/base/cpu.hpp"
#include "codecs/entropy/number_table.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs::entropy {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

/// Symbols 0, 1, 2… with probabilities that fall by `ratio`, scattered over the alphabet.
Bytes8 geometric(std::size_t count, double ratio, unsigned alphabet, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  Bytes8 symbols(count);
  for (auto& symbol : symbols) {
    unsigned value = 0;
    while (value + 1 < alphabet && uniform(random) < ratio) ++value;
    symbol = static_cast<std::uint8_t>(value * 37 + seed);
  }
  return symbols;
}

Bytes encoded(const Bytes8& symbols, Method method) {
  Bytes block(block_bound(symbols.size()));
  block.resize(encode_block(symbols, method, block));
  block.shrink_to_fit();
  return block;
}

void check_round_trip(const Bytes8& symbols) {
  for (const Method method : {Method::huffman, Method::smallest}) {
    const Bytes block = encoded(symbols, method);
    REQUIRE(block.size() <= symbols.size() + 1);
    cpu::use_portable_only(true);
    const Bytes portable = encoded(symbols, method);
    Bytes8 decoded_portable(symbols.size(), 0xcc);
    const bool whole_portable = decode_block(block, decoded_portable);
    cpu::use_portable_only(false);
    Bytes8 decoded(symbols.size(), 0xcc);
    REQUIRE(decode_block(block, decoded));
    REQUIRE(whole_portable);
    REQUIRE(decoded == symbols);
    REQUIRE(decoded_portable == symbols);
    REQUIRE(portable == block);
  }
}

}  // namespace

TEST_CASE("an entropy block of any small size comes back") {
  for (std::size_t size = 0; size <= 200; ++size) {
    check_round_trip(geometric(size, 0.6, 20, 1));
    check_round_trip(Bytes8(size, 7));
    check_round_trip(geometric(size, 0.995, 256, 3));
  }
}

TEST_CASE("an entropy block of several segments comes back at every skew") {
  unsigned seed = 0;
  for (const double ratio : {0.0005, 0.05, 0.3, 0.5, 0.8, 0.95, 0.99, 0.9999}) {
    for (const std::size_t size : {1000U, 4095U, 4096U, 32767U, 32768U, 32769U, 100001U}) {
      check_round_trip(geometric(size, ratio, 256, ++seed));
    }
  }
}

TEST_CASE("codes longer than the limit are cut and still decode") {
  Bytes8 symbols;
  unsigned long long a = 1;
  unsigned long long b = 1;
  for (unsigned s = 0; s < 24; ++s) {  // Fibonacci counts give Huffman codes of depth 23
    symbols.insert(symbols.end(), static_cast<std::size_t>(a), static_cast<std::uint8_t>(s));
    std::swap(a, b);
    b += a;
  }
  std::shuffle(symbols.begin(), symbols.end(), std::mt19937(5));
  check_round_trip(symbols);
  for (unsigned s = 0; s < 256; ++s) symbols.push_back(static_cast<std::uint8_t>(s));
  check_round_trip(symbols);
}

TEST_CASE("blocks come within two percent of the entropy, and tANS within half a percent") {
  for (const double ratio : {0.02, 0.2, 0.7, 0.9, 0.97}) {
    const Bytes8 symbols = geometric(200000, ratio, 256, 11);
    double bits = 0;
    for (const std::uint32_t count : count_symbols(symbols).count) {
      if (count != 0) bits -= count * std::log2(count / 200000.0);
    }
    CHECK(static_cast<double>(encoded(symbols, Method::smallest).size()) < bits / 8 * 1.005 + 250);
    if (ratio > 0.6) {
      CHECK(static_cast<double>(encoded(symbols, Method::huffman).size()) < bits / 8 * 1.035 + 250);
    }
  }
}

TEST_CASE("estimates of a block's size are close") {
  for (const double ratio : {0.02, 0.5, 0.9, 0.999}) {
    const Bytes8 symbols = geometric(150000, ratio, 256, 12);
    for (const Method method : {Method::huffman, Method::smallest}) {
      const auto real = static_cast<double>(encoded(symbols, method).size());
      const auto estimate = static_cast<double>(estimate_block(count_symbols(symbols), method));
      CHECK(std::abs(estimate - real) < real * 0.01 + 120);
    }
  }
}

TEST_CASE("a constant takes two bytes and noise one byte more than itself") {
  CHECK(encoded(Bytes8(100000, 9), Method::huffman).size() == 2);
  Bytes8 noise(70000);
  std::mt19937 random(4);
  for (auto& symbol : noise) symbol = static_cast<std::uint8_t>(random());
  CHECK(encoded(noise, Method::smallest).size() == noise.size() + 1);
}

TEST_CASE("the worked examples of the spec decode") {
  const auto block = [](std::initializer_list<int> values) {
    Bytes bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
  };
  const Bytes example =
      block({0x02, 0x03, 0x21, 0x00, 0x04, 3,    0,    3,    0,    3,    0,    3,   0,
             0x71, 0x88, 0x03, 0x71, 0x88, 0x03, 0x71, 0x88, 0x03, 0x71, 0x88, 0x03});
  Bytes8 symbols;
  for (int i = 0; i < 8; ++i) symbols.insert(symbols.end(), {1, 0, 0, 3, 1, 0, 0, 0});
  Bytes8 decoded(symbols.size());
  REQUIRE(decode_block(example, decoded));
  CHECK(decoded == symbols);
  CHECK(encoded(symbols, Method::huffman) == example);
  Bytes8 none;
  CHECK(decode_block(block({0x00}), none));
  CHECK_FALSE(decode_block(block({}), none));
}

TEST_CASE("damaged entropy blocks never reach outside their memory") {
  std::mt19937 random(99);
  for (const double ratio : {0.1, 0.5, 0.9}) {
    for (const std::size_t size : {50U, 3000U, 40000U}) {
      const Bytes8 symbols = geometric(size, ratio, 200, 5);
      for (const Method method : {Method::huffman, Method::smallest}) {
        const Bytes whole = encoded(symbols, method);
        for (int round = 0; round < 300; ++round) {
          Bytes damaged = whole;
          const int changes = 1 + round % 4;
          for (int change = 0; change < changes; ++change) {
            // Half of the damage goes where the table and the sizes are.
            const std::size_t range =
                round % 2 == 0 ? std::min<std::size_t>(80, damaged.size()) : damaged.size();
            damaged[random() % range] = static_cast<std::byte>(random());
          }
          if (round % 5 == 0) damaged.resize(random() % damaged.size());
          damaged.shrink_to_fit();
          Bytes8 decoded(size);
          decoded.shrink_to_fit();
          cpu::use_portable_only(round % 3 == 0);
          static_cast<void>(decode_block(damaged, decoded));
        }
        cpu::use_portable_only(false);
      }
    }
  }
}

TEST_CASE("a truncated entropy block is damaged at every length") {
  const Bytes8 symbols = geometric(2000, 0.8, 100, 6);
  for (const Method method : {Method::huffman, Method::smallest}) {
    const Bytes whole = encoded(symbols, method);
    Bytes8 decoded(symbols.size());
    for (std::size_t length = 0; length < whole.size(); ++length) {
      REQUIRE_FALSE(
          decode_block(Bytes(whole.begin(), whole.begin() + static_cast<long>(length)), decoded));
    }
  }
}

TEST_CASE("number tables of zeros, ones and large numbers come back") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint16_t> numbers(random() % 257);
    for (auto& number : numbers) {
      number = static_cast<std::uint16_t>(random() % 3 == 0 ? random() >> (17 + random() % 15) : 0);
    }
    Bytes stored(number_table_bound(numbers.size()));
    stored.resize(write_number_table(numbers, stored.data()));
    std::vector<std::uint16_t> read(numbers.size());
    REQUIRE(read_number_table(stored, read) == stored.size());
    REQUIRE(read == numbers);
  }
}

}  // namespace mcr::codecs::entropy
