// SPDX-License-Identifier: BSD-3-Clause
// Least-squares stencil: predicts each number from twelve earlier numbers around it, with
// coefficients that are fitted to the data. The residual is the zigzag difference of ordered
// integers. If the data comes from a numerical scheme with a stencil of its own (PPM, central
// differences), a fitted stencil predicts better than Lorenzo's fixed coefficients. Its price is
// the fit, and a decoder that takes one number after the other. See spec.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codecs/base/layout.hpp"

namespace mcr::codecs {

constexpr std::size_t stencil_taps = 12;

/// Coefficients for bricks of one rank (1 to 3). Numbers of bricks with another rank are predicted
/// by the previous number.
struct Stencil {
  unsigned rank = 1;
  std::array<double, stencil_taps> coefficients{};
};

/// Returns Lorenzo's coefficients, the stencil before a fit.
Stencil lorenzo_stencil(unsigned rank);

/// Fits the coefficients for the rank that most numbers of `layout` have, from samples of `raw`
/// (IEEE numbers of 4 or 8 bytes, in this machine's byte order). On one machine, the same data
/// gives the same result; decoding needs no fit, because the frame has the coefficients. `work`
/// holds stencil_fit_words doubles.
constexpr std::size_t stencil_fit_samples = 4096;
constexpr std::size_t stencil_fit_words = stencil_fit_samples * (stencil_taps + 2);
Stencil stencil_fit(const std::byte* raw, const Layout& layout, std::span<double> work);

/// Convert numbers to residuals and back, for the bricks of `layout` (floating, 4 or 8 bytes). The
/// ranges are `layout.raw_bytes()` long and must not overlap. They may have any alignment.
void stencil_encode(const Stencil& stencil, const Layout& layout, const std::byte* numbers,
                    std::byte* residuals);
void stencil_decode(const Stencil& stencil, const Layout& layout, const std::byte* residuals,
                    std::byte* numbers);

}  // namespace mcr::codecs
