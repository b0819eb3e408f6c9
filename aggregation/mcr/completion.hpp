// SPDX-License-Identifier: BSD-3-Clause
// Scripts with which a shell completes `mcr`: commands, options, and values that are one of a few words. They are made
// from the options that --help lists. Everything else completes to names of files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mcr::aggregation {

/// Return the script for the command line of `app`, for each of the three shells.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace mcr::aggregation
