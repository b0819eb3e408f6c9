// SPDX-License-Identifier: BSD-3-Clause
// Decides whether numbers with a common step are better coded as multiples of that step
// (codecs/multiples).
#pragma once

#include <optional>
#include <vector>

#include "codecs/choice/contenders.hpp"
#include "codecs/multiples/multiples.hpp"

namespace mcr::codecs {

/// If multiples cost less than this share of the other codings' cost, they win without a trial
/// against those.
inline constexpr double clearly_less = 0.8;

/// Returns the coding of numbers as multiples `found` of a common step, with the pipeline that is
/// best for the multiples on a piece. No value if there is no step, or if no estimate comes close to
/// `other`. Adds the size of the piece to `tried`.
std::optional<Contender> best_of_multiples(const std::optional<Multiples>& found,
                                           const Contender& other, const ProfileOptions& options,
                                           const Layout& layout, ByteSpan raw, Scratch& scratch,
                                           std::size_t& tried);

/// If the best of `contenders` may be better than `multiples`, tries it on a piece like the one of
/// `multiples`. Sorts the two. Returns how many bytes were tried.
std::size_t try_against(Contender multiples, std::vector<Contender>& contenders,
                        const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                        Scratch& scratch);

}  // namespace mcr::codecs
