// SPDX-License-Identifier: BSD-3-Clause
// Groups symbols by their neighbours, because large residuals are mostly followed by large ones.
// The mean of the symbol before and the symbol above chooses one of up to eight groups. Each group
// has an entropy block of its own. See spec.md, "Contexts".
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs {

inline constexpr std::size_t most_groups = 8;

/// The rows in which the symbols of a brick lie.
struct SymbolRows {
  std::size_t count = 0;    ///< symbols in the brick
  std::size_t columns = 0;  ///< symbols in a row; 0: no symbol lies above another
};

/// Maps a context (the mean of two symbols) to a group.
struct GroupTable {
  std::size_t groups = 1;
  std::array<std::uint8_t, most_groups> first{};  ///< lowest context of each group, rising

  [[nodiscard]] std::array<std::uint8_t, 256> of_context() const;
};

/// Returns groups of nearly equal size. Their number grows with the number of symbols.
GroupTable choose_groups(const entropy::Histogram& histogram);

/// Writes the symbols group by group to `grouped`, which is as long as `symbols`. Returns the size
/// of each group.
std::array<std::size_t, most_groups> split_by_context(const GroupTable& table,
                                                      std::span<const SymbolRows> rows,
                                                      entropy::Symbols symbols,
                                                      std::uint8_t* grouped);

/// The inverse. Returns false if the groups' sizes are not those that the symbols require.
[[nodiscard]] bool join_by_context(const GroupTable& table,
                                   const std::array<std::size_t, most_groups>& sizes,
                                   std::span<const SymbolRows> rows, entropy::Symbols grouped,
                                   std::uint8_t* symbols);

}  // namespace mcr::codecs
