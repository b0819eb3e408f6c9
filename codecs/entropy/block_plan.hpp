// SPDX-License-Identifier: BSD-3-Clause
// What an encoder decides from the counts of a block's symbols: the mode, the code, and the bytes before
// the segments.
#pragma once

#include <array>

#include "codecs/entropy/block_format.hpp"
#include "codecs/entropy/entropy.hpp"
#include "codecs/entropy/huffman.hpp"
#include "codecs/entropy/number_table.hpp"
#include "codecs/entropy/tans.hpp"

namespace mcr::codecs::entropy {

struct BlockPlan {
  Mode mode = Mode::raw;
  CodeLengths lengths;  ///< if the mode is huffman
  StateCounts states;   ///< if the mode is tans
  std::array<std::byte, 3 + number_table_bound(256)>
      head;  ///< all but segments, symbols of mode raw
  std::size_t head_bytes = 0;
};

/// If the segments then make the block longer than the symbols, the block must be raw instead.
BlockPlan plan_block(const Histogram& histogram, Method method);

}  // namespace mcr::codecs::entropy
