// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/transpose/transpose.hpp"

#include "codecs/base/registry.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

TEST_CASE("transpose puts byte b of element i at b * count + i, for every size and count") {
  for (std::size_t size = 1; size <= 17; ++size) {
    for (std::size_t count = 0; count <= 100; ++count) {
      const Bytes raw = sample::make({ElementKind::bytes, 1, false}, size * count,
                                     sample::Pattern::random, static_cast<unsigned>(count));
      Bytes planes(raw.size());
      transpose_encode(raw.data(), count, size, planes.data());
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t b = 0; b < size; ++b) REQUIRE(planes[b * count + i] == raw[i * size + b]);
      }
      Bytes back(raw.size());
      transpose_decode(planes.data(), count, size, back.data());
      REQUIRE(back == raw);
    }
  }
}

TEST_CASE("transpose leaves the bytes behind the last whole element where they are") {
  const Codec& codec = find_codec("transpose")->codec();
  const Layout layout{{}, {Shape::flat(11)}};
  const Bytes raw = sample::make(layout.type, 11, sample::Pattern::counting);
  Bytes parameters{std::byte{4}};
  Scratch scratch;
  Bytes stored;
  REQUIRE(codec.encode(raw, layout, parameters, scratch, stored));
  REQUIRE(std::equal(raw.begin() + 8, raw.end(), stored.begin() + 8));
  REQUIRE(stored[1] == raw[4]);
}

}  // namespace
}  // namespace mcr::codecs
