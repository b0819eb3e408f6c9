// SPDX-License-Identifier: BSD-3-Clause
// Reads mcr.conf, in the subset of TOML that settings need: keys, [tables], texts on one line,
// whole numbers, true and false, lists of texts. Dates, fractions, inline tables and texts over
// several lines are errors.
//
// The parser is our own, because it runs inside the user's program, where a mistake in the file
// must only cause an error. toml++ (3.3) ends the process on "[[[" by an assertion, or has
// undefined behaviour if assertions are off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::restart {

struct ConfigurationEntry {
  std::string key;    ///< with its table's name before it: "codec.double"
  std::string value;  ///< as written after the connector's name; lists joined by ';'
  unsigned line = 0;
};

/// Cause::usage, with the line, if the text is not in that subset or a key occurs twice.
Result<std::vector<ConfigurationEntry>> parse_configuration(std::string_view text);

}  // namespace mcr::restart
