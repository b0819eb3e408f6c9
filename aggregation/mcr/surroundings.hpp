// SPDX-License-Identifier: BSD-3-Clause
// What a subcommand needs to know of the installation and of the user's environment. main() removes
// connector variables from this process's environment; programs that it starts, and `mcr config`,
// need them unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// Returns all variables as NAME=value, as this process was started with them.
std::vector<std::string> original_environment();
/// Returns one of them; "" if it was not set.
std::string original_variable(const std::string& name);

/// Returns the folder of the plugin that was installed with this command, and the plugin's file in
/// it.
std::string plugin_directory();
std::string plugin_file();

/// Returns the environment for a program of the user: the original one, with the plugin on the path
/// and `mcr` as connector. The user's own connector text stays if it begins with mcr.
std::vector<std::string> captured_environment();

/// Returns the effective settings for files in `directory` (empty: none), as a program started here
/// would find them.
Result<restart::Settings> effective_settings(const std::string& directory,
                                             std::vector<std::string>& warnings);

/// Returns `given` or, if it is empty, the stage of the effective settings.
Result<std::string> stage_path(const std::string& given);

/// Runs `words` with `environment` in the foreground, and forwards SIGINT and SIGTERM. Returns the
/// exit status as a shell gives it (128 + signal); Cause::system if the program cannot be started.
/// `quiet`: redirects its standard output to standard error, because ours is for one JSON value.
Result<int> run_program(const std::vector<std::string>& words,
                        const std::vector<std::string>& environment, bool quiet);

}  // namespace mcr::aggregation
