// SPDX-License-Identifier: BSD-3-Clause
// Mistakes in a regular expression, found without building it: whoever sets match= is in the
// application, where the library's std::regex, its locales and its exceptions do not belong.
#pragma once

#include <string_view>

namespace mcr::restart {

/// What is wrong with a regular expression in ECMAScript's notation; empty: nothing. What this
/// refuses std::regex refuses too. The other way round but for names of character classes and for
/// expressions that are too large.
std::string_view pattern_problem(std::string_view pattern);

}  // namespace mcr::restart
