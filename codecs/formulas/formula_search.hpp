// SPDX-License-Identifier: BSD-3-Clause
// Finds exact or nearly exact relations between variables from samples, without knowledge of the
// program. All pairs (for sums of squares all triples) are tried on three samples. Relations that
// agree on these are tried in every order of operations and counted on all samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codecs/formulas/formula.hpp"

namespace mcr::codecs {

/// A relation that computes one variable.
struct FoundFormula {
  Formula formula;
  std::vector<std::uint32_t> inputs;  ///< columns, by the formula's input numbers
  double bits_per_word = 0;           ///< on the samples, for what the formula leaves to be coded
};

/// Columns of equally many samples, taken at the same places, one column per variable. The first
/// rows should be those that vary most.
template <typename T>
struct Samples {
  std::vector<std::vector<T>> columns;
};

/// Returns the best formula for each column; `bits_per_word` is 64 (32) if none was found. Formulas
/// may use one another: the caller must choose among them so that no variable depends on itself.
template <typename T>
std::vector<FoundFormula> find_formulas(const Samples<T>& samples, Scratch& scratch);

}  // namespace mcr::codecs
