// SPDX-License-Identifier: BSD-3-Clause
// Symbols sorted by what their neighbours promise: where residuals are large, more large ones
// follow. The mean of the symbol before and the symbol above chooses one of up to eight groups, and
// each group gets an entropy block of its own. spec.md, "Contexts".
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs {

inline constexpr std::size_t most_groups = 8;

/// Symbols of one brick; `columns` is the distance to the symbol above, 0 where there is none.
struct SymbolRows {
  std::size_t count = 0;
  std::size_t columns = 0;
};

/// Which group follows a context (the mean of two symbols).
struct GroupTable {
  std::size_t groups = 1;
  std::array<std::uint8_t, most_groups> first{};  ///< lowest context of each group, rising

  [[nodiscard]] std::array<std::uint8_t, 256> of_context() const;
};

/// Groups of nearly equal size, as many as the number of symbols pays tables for.
GroupTable choose_groups(const entropy::Histogram& histogram);

/// Puts the symbols of each group together into `grouped` (as long as `symbols`), group by group;
/// answers how many each has.
std::array<std::size_t, most_groups> split_by_context(const GroupTable& table,
                                                      std::span<const SymbolRows> rows,
                                                      entropy::Symbols symbols,
                                                      std::uint8_t* grouped);

/// The inverse. False where the groups' sizes are not what the symbols ask for.
[[nodiscard]] bool join_by_context(const GroupTable& table,
                                   const std::array<std::size_t, most_groups>& sizes,
                                   std::span<const SymbolRows> rows, entropy::Symbols grouped,
                                   std::uint8_t* symbols);

}  // namespace mcr::codecs
