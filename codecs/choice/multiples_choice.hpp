// SPDX-License-Identifier: BSD-3-Clause
// Decides whether numbers with a common step are better coded as multiples of it
// (codecs/multiples).
#pragma once

#include <optional>
#include <vector>

#include "codecs/choice/contenders.hpp"

namespace mcr::codecs {

/// Multiples below this share of the others' cost need no trial against them.
inline constexpr double clearly_less = 0.8;

/// Returns the coding of numbers as multiples of a common step, with the pipeline that is best for
/// the multiples on a piece. No value if there is no step, or if no estimate comes close to
/// `other`. Adds the size of the piece to `tried`.
std::optional<Contender> best_of_multiples(const Contender& other, const ProfileOptions& options,
                                           const Layout& layout, ByteSpan raw, Scratch& scratch,
                                           std::size_t& tried);

/// Tries the best of `contenders` on a piece like that of `multiples` if it may win, and sorts the
/// two. Returns how many bytes were tried.
std::size_t try_against(Contender multiples, std::vector<Contender>& contenders,
                        const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                        Scratch& scratch);

}  // namespace mcr::codecs
