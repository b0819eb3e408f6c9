// SPDX-License-Identifier: BSD-3-Clause
// Which sections are computed from which, and the order of decoding that follows.
#pragma once

#include <optional>
#include <vector>

#include "codecs/formulas/formula_search.hpp"
#include "codecs/frames/section_memory.hpp"
#include "codecs/frames/solid_frame.hpp"

namespace mcr::codecs::solid {

struct SectionOrder {
  std::vector<std::uint32_t> order;  ///< all sections, inputs of formulas before what they give
  /// Per section, its inputs as section numbers.
  std::vector<std::optional<FoundFormula>> formulas;
};

/// Samples sections of equal layout and looks for formulas among them. `memory` holds the sections'
/// words in this machine's byte order.
SectionOrder find_order(const std::vector<Section>& sections,
                        const std::vector<SectionMemory>& memory, bool formulas, Scratch& scratch);

}  // namespace mcr::codecs::solid
