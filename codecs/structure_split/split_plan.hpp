// SPDX-License-Identifier: BSD-3-Clause
// How the codec `structure_split` splits the bricks of a layout.
#pragma once

#include <optional>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// Returns the type of a structure's members; nothing if bricks are to be split by their last
/// dimension.
Result<std::optional<ElementType>> member_type(ByteSpan parameters);

struct SplitPlan {
  std::uint32_t word_bytes = 1;
  std::vector<std::uint32_t> members;  ///< of each brick
  Layout after;
};
Result<SplitPlan> split_plan(const Layout& in, ByteSpan parameters);

}  // namespace mcr::codecs
