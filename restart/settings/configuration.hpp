// SPDX-License-Identifier: BSD-3-Clause
// mcr.conf: the part of TOML that settings need. Keys, [tables], texts in one line, whole numbers,
// true and false, lists of texts; no dates, fractions, inline tables, texts over several lines.
//
// Of our own, because it is read inside somebody's program, and a file with a slip in it must be an
// error and nothing else: toml++ (3.3) ends the process on "[[[" by an assertion, or runs into
// undefined behaviour where assertions are off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::restart {

struct ConfigurationEntry {
  std::string key;    ///< with its table: "codec.double"
  std::string value;  ///< as one writes it after the connector's name; lists joined by ';'
  unsigned line = 0;
};

/// Cause::usage with the line where the text is not of that form, or a key stands twice.
Result<std::vector<ConfigurationEntry>> parse_configuration(std::string_view text);

}  // namespace mcr::restart
