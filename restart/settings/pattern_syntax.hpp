// SPDX-License-Identifier: BSD-3-Clause
// Finds mistakes in a regular expression without std::regex. The setting match= is checked in the
// application, where std::regex, its locales and its exceptions must not be used.
#pragma once

#include <string_view>

namespace mcr::restart {

/// Returns what is wrong with an ECMAScript regular expression; empty if it is valid. Refuses only
/// what std::regex refuses. Accepts two things that std::regex refuses: unknown names of character
/// classes and expressions that are too large.
std::string_view pattern_problem(std::string_view pattern);

}  // namespace mcr::restart
