// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include "codecs/fpc/fpc_codec.hpp"
#include "test/support/catch.hpp"

using namespace mcr;
using namespace mcr::codecs;

namespace {

Layout doubles(std::size_t count) {
  return {{ElementKind::floating, 8, false}, {Shape::flat(static_cast<std::uint32_t>(count))}};
}

Bytes encoded(const std::vector<double>& values) {
  Scratch scratch;
  Bytes out;
  REQUIRE(fpc_codec().encode(std::as_bytes(std::span(values)), doubles(values.size()), {}, scratch,
                             out));
  return out;
}

}  // namespace

TEST_CASE("fpc stores the example of its spec as one byte") {
  CHECK(encoded({0.0, 0.0}) == Bytes{std::byte{0x77}});
}

TEST_CASE("fpc learns a repeating sequence of values") {
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) values.push_back(std::sqrt(2.0 + i % 7));
  CHECK(encoded(values).size() < values.size());
}

TEST_CASE("fpc learns a constant difference") {
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) values.push_back(static_cast<double>(i + (1 << 20)));
  CHECK(encoded(values).size() < 2 * values.size());
}

TEST_CASE("fpc refuses stored bytes that are too long or too short") {
  const std::vector<double> values{1.5, -2.5, 1e300};
  Bytes stored = encoded(values);
  Scratch scratch;
  Bytes raw(values.size() * 8);
  stored.push_back(std::byte{0});
  CHECK(!fpc_codec().decode(stored, doubles(3), {}, scratch, raw));
  stored.resize(stored.size() - 2);
  CHECK(!fpc_codec().decode(stored, doubles(3), {}, scratch, raw));
}
