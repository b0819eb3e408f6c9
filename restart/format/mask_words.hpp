// SPDX-License-Identifier: BSD-3-Clause
// The words that stand for digits in masked names (masked_name.hpp), in patterns and in `files=`.
#pragma once

#include <string_view>

namespace mcr::restart {

inline constexpr std::string_view rank_word = "{rank}";
inline constexpr std::string_view ranks_word = "{ranks}";
inline constexpr std::string_view part_word = "{part}";
inline constexpr std::string_view number_word = "{n}";  ///< in patterns: any other number

}  // namespace mcr::restart
