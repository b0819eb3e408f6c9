// SPDX-License-Identifier: BSD-3-Clause
// The words of the command line, read from the options that --help lists, for completion.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mcr::aggregation {

struct OptionWords {
  std::vector<std::string> names;  ///< "-o", "--output"
  std::string purpose;
  bool takes_value = false;
  bool may_repeat = false;
  std::vector<std::string> values;  ///< empty: any value
};

struct CommandWords {
  std::string name;
  std::string purpose;
  std::vector<OptionWords> options;
  std::vector<std::string> values;  ///< of its arguments; empty: files
};

/// Returns the options of `app` itself.
std::vector<OptionWords> options_of(const CLI::App& app);

/// Returns the commands that --help lists, and those of the Python package, whose options are not known.
std::vector<CommandWords> commands_of(const CLI::App& app);

}  // namespace mcr::aggregation
