// SPDX-License-Identifier: BSD-3-Clause
// A small picture of a variable: boxes of its bricks, so that predictors in several dimensions see
// on it what they would see on the whole. Contiguous cuts would lose the slowest dimensions.
#pragma once

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs {

struct Sample {
  Layout layout;
  Bytes raw;
};

/// Up to `box_count` boxes of at most `box_bytes` each (but one element at least), spread evenly
/// over `raw` (exactly `layout.raw_bytes()` long). Where that is not less than everything,
/// everything.
Sample take_sample(const Layout& layout, ByteSpan raw, std::size_t box_count,
                   std::size_t box_bytes);

}  // namespace mcr::codecs
