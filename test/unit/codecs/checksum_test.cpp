// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/checksum.hpp"

#include <algorithm>

#include "codecs/base/cpu.hpp"
#include "test/support/catch.hpp"
#include "test/unit/codecs/sample_data.hpp"

namespace mcr {
namespace {

Bytes random_bytes(std::size_t count) {
  return codecs::sample::make({codecs::ElementKind::bytes, 1, false}, count,
                              codecs::sample::Pattern::random);
}

std::uint64_t portable_checksum(ByteSpan data) {
  cpu::use_portable_only(true);
  const std::uint64_t sum = checksum(data);
  cpu::use_portable_only(false);
  return sum;
}

void warn_without_variants() {
  if (!cpu::has_avx2()) WARN("this machine has only one variant");
}

TEST_CASE("The checksum is XXH3-64 with seed 0") {
  const std::string_view text = "abc";
  CHECK(checksum(std::as_bytes(std::span(text))) == 0x78af5f94892f3950);
  CHECK(checksum({}) == 0x2d06800538d394c2);
}

TEST_CASE("All variants of the checksum give one value, for any length and place in memory") {
  warn_without_variants();
  const Bytes data = random_bytes(5000);
  for (std::size_t bytes = 0; bytes < data.size() - 64; bytes += bytes < 1100 ? 1 : 97) {
    const ByteSpan part = ByteSpan(data).subspan(bytes % 61, bytes);
    REQUIRE(checksum(part) == portable_checksum(part));
  }
}

TEST_CASE("A running checksum may change its variant between two pieces") {
  warn_without_variants();
  const Bytes data = random_bytes(100'000);
  for (const std::size_t piece : {1, 64, 255, 256, 1000, 4096, 70'000}) {
    RunningChecksum sum;
    bool portable = false;
    for (std::size_t begin = 0; begin < data.size(); begin += piece) {
      portable = !portable;
      cpu::use_portable_only(portable);
      sum.add(ByteSpan(data).subspan(begin, std::min(piece, data.size() - begin)));
    }
    cpu::use_portable_only(false);
    REQUIRE(sum.value() == checksum(data));
  }
}

}  // namespace
}  // namespace mcr
