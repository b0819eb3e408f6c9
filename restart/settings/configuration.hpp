// SPDX-License-Identifier: BSD-3-Clause
// Reads mcr.conf: the subset of TOML that settings need. Keys, [tables], texts on one line, whole
// numbers, true and false, lists of texts. No dates, fractions, inline tables or texts over several
// lines.
//
// A parser of our own, because it runs inside the user's program, where a mistake in the file must be
// no more than an error. toml++ (3.3) ends the process on "[[[" by an assertion, or has undefined
// behaviour if assertions are off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::restart {

struct ConfigurationEntry {
  std::string key;    ///< with the table in front: "codec.double"
  std::string value;  ///< as written after the connector's name; lists joined by ';'
  unsigned line = 0;
};

/// Cause::usage, with the line, if the text is not of that form or a key stands twice.
Result<std::vector<ConfigurationEntry>> parse_configuration(std::string_view text);

}  // namespace mcr::restart
