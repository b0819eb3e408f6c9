// SPDX-License-Identifier: BSD-3-Clause
// Whether numbers of a common step are better taken as multiples of it (codecs/multiples).
#pragma once

#include <optional>
#include <vector>

#include "codecs/choice/contenders.hpp"

namespace mcr::codecs {

/// How much less than others multiples cost that need no trial against them.
inline constexpr double clearly_less = 0.8;

/// Numbers of a common step as multiples of it, with what is best for these on a piece of them; no
/// value where there is no step, or nothing that comes close to `other` by estimates. Adds the size
/// of the piece to `tried`.
std::optional<Contender> best_of_multiples(const Contender& other, const ProfileOptions& options,
                                           const Layout& layout, ByteSpan raw, Scratch& scratch,
                                           std::size_t& tried);

/// Tries the best of `contenders` on a piece like that of `multiples`, where it may win, and ranks
/// the two. Answers what was tried.
std::size_t try_against(Contender multiples, std::vector<Contender>& contenders,
                        const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                        Scratch& scratch);

}  // namespace mcr::codecs
