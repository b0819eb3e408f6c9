// SPDX-License-Identifier: BSD-3-Clause
// Finds exact, or nearly exact, relations between variables from samples of them. Nothing is known
// of any program: all pairs (for sums of squares all triples) are tried on three samples, what
// agrees there is spelled in every order of operations and counted on all samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codecs/formulas/formula.hpp"

namespace mcr::codecs {

/// A relation for one variable.
struct FoundFormula {
  Formula formula;
  std::vector<std::uint32_t> inputs;  ///< columns, by the formula's input numbers
  double bits_per_word = 0;           ///< on the samples, for what the formula leaves to be coded
};

/// Columns of equally many samples, taken at the same places: one a variable. Rows early in the
/// columns should be the more varied ones.
template <typename T>
struct Samples {
  std::vector<std::vector<T>> columns;
};

/// The best formula for each column, its `bits_per_word` 64 (32) where none was found. Formulas may
/// refer to one another: choosing among them so that nothing needs itself is the caller's.
template <typename T>
std::vector<FoundFormula> find_formulas(const Samples<T>& samples, Scratch& scratch);

}  // namespace mcr::codecs
