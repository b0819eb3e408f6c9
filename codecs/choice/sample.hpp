// SPDX-License-Identifier: BSD-3-Clause
// A sample of a variable, made of boxes cut from its bricks. On a box, a predictor in several
// dimensions has about the same residuals as on the whole brick. A contiguous piece would lose the
// neighbours along the slowest dimensions.
#pragma once

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs {

struct Sample {
  Layout layout;
  Bytes raw;
};

/// Takes up to `box_count` boxes of at most `box_bytes` each (but at least one element), spread
/// evenly over `raw` (exactly `layout.raw_bytes()` long). Takes all of `raw` if the boxes would
/// cover it.
Sample take_sample(const Layout& layout, ByteSpan raw, std::size_t box_count,
                   std::size_t box_bytes);

}  // namespace mcr::codecs
