// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include "codecs/planes/plane_choice.hpp"
#include "codecs/planes/planes_codec.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Bytes encoded(const Layout& layout, std::string_view parameters, const Bytes& raw) {
  Scratch scratch;
  const auto parsed = planes_codec().parse(parameters);
  REQUIRE(parsed);
  Bytes out;
  REQUIRE(planes_codec().encode(raw, layout, *parsed, scratch, out));
  Bytes back(raw.size());
  REQUIRE(planes_codec().decode(out, layout, *parsed, scratch, back));
  REQUIRE(back == raw);
  return out;
}

TEST_CASE("the worked examples of the planes' spec hold") {
  const Layout layout{{ElementKind::unsigned_integer, 2, false}, {Shape::flat(3)}};
  REQUIRE(encoded(layout, "", bytes_of({2, 1, 2, 1, 2, 1})) == bytes_of({4, 1, 2, 4, 1, 1}));
  REQUIRE(encoded({layout.type, {}}, "", {}) == bytes_of({2, 0, 2, 0}));
}

TEST_CASE("planes with repeats go through zstd, skewed ones through the entropy coder") {
  std::mt19937_64 random(1);
  Scratch scratch;
  Bytes repeats(65536);
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    repeats[i] = i < 1000 ? static_cast<std::byte>(random()) : repeats[i - 1000];
  }
  Bytes skewed(65536);
  for (auto& byte : skewed) byte = static_cast<std::byte>(std::popcount(random() & 0xffff));
  REQUIRE(*repeats_pay(repeats, repeats.size(), entropy::Method::huffman, 1, scratch));
  REQUIRE_FALSE(*repeats_pay(skewed, skewed.size() * 3 / 8, entropy::Method::huffman, 1, scratch));
  const Layout layout{{ElementKind::bytes, 1, false}, {Shape::flat(65536)}};
  REQUIRE(encoded(layout, "", repeats).size() < 2000);
  REQUIRE(encoded(layout, "zstd=0", repeats).size() > 60000);
  REQUIRE(encoded(layout, "", skewed).size() < 28000);
}

TEST_CASE("one noisy plane does not cost the others their coding") {
  const Layout layout{{ElementKind::floating, 8, false}, {Shape::flat(40000)}};
  std::mt19937_64 random(2);
  Bytes raw(320000);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    raw[i] = static_cast<std::byte>(i % 8 < 5 ? random() : i % 8 == 7 ? 0x40 : random() % 3);
  }
  REQUIRE(encoded(layout, "", raw).size() < 5 * 40000 + 2 * 9000 + 200);
  REQUIRE(encoded(layout, "smallest", raw).size() < 5 * 40000 + 2 * 8400 + 200);
}

TEST_CASE("planes print what they parse") {
  for (const char* text : {"", "smallest", "zstd=0", "smallest,zstd=9"}) {
    REQUIRE(planes_codec().print(*planes_codec().parse(text)) == text);
  }
  REQUIRE_FALSE(planes_codec().parse("zstd=99"));
}

}  // namespace
}  // namespace mcr::codecs
