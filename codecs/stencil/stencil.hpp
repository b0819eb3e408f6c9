// SPDX-License-Identifier: BSD-3-Clause
// Least-squares stencil: each number is predicted from twelve earlier ones around it, with
// coefficients that were fitted to the data; what is left is the zigzag difference of ordered
// integers. Where a flow has a stencil of its own (PPM, central differences), it beats Lorenzo's
// fixed coefficients; it costs a fit, and decodes one number after the other. See spec.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codecs/base/layout.hpp"

namespace mcr::codecs {

constexpr std::size_t stencil_taps = 12;

/// Coefficients for bricks of one rank (1 to 3); bricks of another rank are predicted by the
/// previous number.
struct Stencil {
  unsigned rank = 1;
  std::array<double, stencil_taps> coefficients{};
};

/// Lorenzo's coefficients: what a stencil is before anything was fitted.
Stencil lorenzo_stencil(unsigned rank);

/// Fits the coefficients for the rank that most of `layout`'s numbers have, from samples of `raw`
/// (IEEE numbers of `layout.type.size` 4 or 8 bytes, this machine's byte order). The same data give
/// the same coefficients on one machine; they ride in the frame, so that decoding needs no fit.
/// `work` holds stencil_fit_words doubles.
constexpr std::size_t stencil_fit_samples = 4096;
constexpr std::size_t stencil_fit_words = stencil_fit_samples * (stencil_taps + 2);
Stencil stencil_fit(const std::byte* raw, const Layout& layout, std::span<double> work);

/// Numbers to residuals and back, for the bricks of `layout` (floating, 4 or 8 bytes). The ranges
/// do not overlap, need no alignment, and are `layout.raw_bytes()` long.
void stencil_encode(const Stencil& stencil, const Layout& layout, const std::byte* numbers,
                    std::byte* residuals);
void stencil_decode(const Stencil& stencil, const Layout& layout, const std::byte* residuals,
                    std::byte* numbers);

}  // namespace mcr::codecs
