// SPDX-License-Identifier: BSD-3-Clause
// What a subcommand needs to know of the installation and of the environment in which the user
// typed it. main() takes connector variables out of this process's own environment; programs that
// we start, and `mcr config`, need them as they were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// NAME=value of all variables as this process was started with them.
std::vector<std::string> original_environment();
/// One of them; "" where it was not set.
std::string original_variable(const std::string& name);

/// The folder of the plugin that was installed beside this command; its file below that.
std::string plugin_directory();
std::string plugin_file();

/// The environment for a program of the user's: as it was, with the plugin found and `mcr` as
/// connector. A connector text of the user's that begins with mcr stays.
std::vector<std::string> captured_environment();

/// Effective settings for files in `directory` (empty: none), as a program started here would find
/// them.
Result<restart::Settings> effective_settings(const std::string& directory,
                                             std::vector<std::string>& warnings);

/// `given`, or else the stage of the effective settings.
Result<std::string> stage_path(const std::string& given);

/// Runs `words` with `environment`, as the foreground; SIGINT and SIGTERM go to it. Its exit
/// status, as a shell says it (128 + signal); Cause::system where it cannot be started. `quiet`:
/// what it says on standard output goes to standard error, because ours is for one JSON value.
Result<int> run_program(const std::vector<std::string>& words,
                        const std::vector<std::string>& environment, bool quiet);

}  // namespace mcr::aggregation
