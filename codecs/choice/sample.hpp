// SPDX-License-Identifier: BSD-3-Clause
// A sample of a variable: boxes of its bricks, on which predictors in several dimensions have about
// the same residuals as on the whole. Contiguous pieces would lose the slowest dimensions.
#pragma once

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs {

struct Sample {
  Layout layout;
  Bytes raw;
};

/// Takes up to `box_count` boxes of at most `box_bytes` each (but at least one element), spread
/// evenly over `raw` (exactly `layout.raw_bytes()` long). Takes all of `raw` if that is not more.
Sample take_sample(const Layout& layout, ByteSpan raw, std::size_t box_count,
                   std::size_t box_bytes);

}  // namespace mcr::codecs
