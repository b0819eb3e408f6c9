// SPDX-License-Identifier: BSD-3-Clause
// Finds exact or nearly exact relations between variables from samples, without knowledge of the
// program. All pairs (for sums of squares all triples) are tried on three samples. A relation that
// holds for these three is tried in every order of operations on all samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codecs/formulas/formula.hpp"

namespace mcr::codecs {

/// A relation that computes one variable.
struct FoundFormula {
  Formula formula;
  std::vector<std::uint32_t> inputs;  ///< the column of each input of the formula
  double bits_per_word = 0;           ///< bits of the formula's residuals, on the samples
};

/// Samples of variables: one column for each variable, all with samples from the same places. The
/// rows that vary most should come first.
template <typename T>
struct Samples {
  std::vector<std::vector<T>> columns;
};

/// Returns the best formula for each column; `bits_per_word` is 64 (32) if none was found. The
/// formulas may depend on one another in a circle, so the caller must choose formulas by which no
/// variable depends on itself.
template <typename T>
std::vector<FoundFormula> find_formulas(const Samples<T>& samples, Scratch& scratch);

}  // namespace mcr::codecs
