// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/sample.hpp"

#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

/// Element k of brick b is b * 2^20 + k, as uint32.
Bytes numbered(const Layout& layout) {
  Bytes raw;
  Writer writer(raw);
  for (std::uint32_t b = 0; b < layout.bricks.size(); ++b) {
    for (std::uint32_t k = 0; k < layout.bricks[b].count(); ++k) writer.u32((b << 20) + k);
  }
  return raw;
}

const ElementType uint32_type{ElementKind::unsigned_integer, 4, false};

TEST_CASE("a sample of little data is the data") {
  const Layout layout{uint32_type, {Shape::flat(0), {2, {10, 20}}, Shape::flat(7)}};
  const Bytes raw = numbered(layout);
  const Sample sample = take_sample(layout, raw, 4, 1000);
  REQUIRE(sample.layout == layout);
  REQUIRE(sample.raw == raw);
}

TEST_CASE("a sample is made of boxes whose neighbours are neighbours in the data") {
  const Layout layout{uint32_type, {{3, {40, 30, 20}}, Shape::flat(0), {3, {25, 30, 20}}}};
  const Sample sample = take_sample(layout, numbered(layout), 6, 2000);
  REQUIRE(sample.layout.bricks.size() == 6);
  REQUIRE(sample.layout.raw_bytes() == sample.raw.size());
  REQUIRE(sample.raw.size() <= 6 * 2000);
  std::size_t at = 0;
  for (const Shape& box : sample.layout.bricks) {
    REQUIRE(box.rank == 3);
    const auto element = [&](std::size_t i, std::size_t j, std::size_t k) {
      return load<std::uint32_t>(sample.raw.data() +
                                 (at + (i * box.extent[1] + j) * box.extent[2] + k) * 4);
    };
    const std::uint32_t first = element(0, 0, 0);
    for (std::uint32_t i = 0; i < box.extent[0]; ++i) {
      for (std::uint32_t j = 0; j < box.extent[1]; ++j) {
        for (std::uint32_t k = 0; k < box.extent[2]; ++k) {
          REQUIRE(element(i, j, k) == first + (i * 30 + j) * 20 + k);
        }
      }
    }
    at += static_cast<std::size_t>(box.count());
  }
}

TEST_CASE("a sample takes a small brick once and whole") {
  const Layout layout{uint32_type, {Shape::flat(100), Shape::flat(5000), Shape::flat(100)}};
  const Sample sample = take_sample(layout, numbered(layout), 9, 1000);
  std::size_t small = 0;
  for (const Shape& box : sample.layout.bricks) small += box.extent[0] == 100;
  REQUIRE(small <= 2);
  REQUIRE(sample.layout.raw_bytes() == sample.raw.size());
}

TEST_CASE("samples of large records hold one record at least") {
  const Layout layout{{ElementKind::bytes, 5000, false}, {Shape::flat(50)}};
  const Sample sample = take_sample(layout, Bytes(250000), 4, 1000);
  REQUIRE(sample.layout.count() == 4);
}

}  // namespace
}  // namespace mcr::codecs
