// SPDX-License-Identifier: BSD-3-Clause
// Finds which sections can be computed from which others, and the order of decoding that follows.
#pragma once

#include <optional>
#include <vector>

#include "codecs/formulas/formula_search.hpp"
#include "codecs/frames/section_memory.hpp"
#include "codecs/frames/solid_frame.hpp"

namespace mcr::codecs::solid {

struct SectionOrder {
  /// All sections; the inputs of a formula come before its result.
  std::vector<std::uint32_t> order;
  /// For each section, its formula, with section numbers as inputs.
  std::vector<std::optional<FoundFormula>> formulas;
};

/// Samples sections of equal layout and looks for formulas between them. `memory` holds the
/// sections' words in this machine's byte order.
SectionOrder find_order(const std::vector<Section>& sections,
                        const std::vector<SectionMemory>& memory, bool formulas, Scratch& scratch);

}  // namespace mcr::codecs::solid
