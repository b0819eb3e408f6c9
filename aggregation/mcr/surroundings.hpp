// SPDX-License-Identifier: BSD-3-Clause
// The installation and the user's environment, as subcommands need them. main() removes connector
// variables from this process's environment, but `mcr config` and the programs that mcr starts need
// them unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// Returns all variables with which this process was started, as NAME=value.
std::vector<std::string> original_environment();
/// Returns one of these variables; "" if it was not set.
std::string original_variable(const std::string& name);

/// Returns this program's own file; "" if it is not known.
std::string own_file();
/// Returns the path that `relative` names from this program's directory; "" if that directory is
/// not known.
std::string beside_command(const char* relative);

/// Return the directory, and the file, of the plugin that was installed with this command.
std::string plugin_directory();
std::string plugin_file();

/// Returns the environment for a program of the user: the original environment, with the plugin's
/// directory on HDF5_PLUGIN_PATH and `mcr` as connector. If the user's own connector text begins
/// with mcr, it stays.
std::vector<std::string> captured_environment();

/// Returns the settings that a program started here would use for files in `directory` (empty: no
/// directory).
Result<restart::Settings> effective_settings(const std::string& directory,
                                             std::vector<std::string>& warnings);

/// Returns `given` or, if it is empty, the stage of the effective settings.
Result<std::string> stage_path(const std::string& given);

/// Returns the standard output of a shell's command; empty if it cannot be started.
std::string output_of(const std::string& command);

/// Runs `words` with `environment` in the foreground, and passes on the signals that users and schedulers
/// send (aggregation/leader/signals.hpp), except those that this process ignores. Returns the
/// exit status as a shell gives it (128 + signal); Cause::system if the program cannot be started.
/// `quiet` redirects the program's standard output to standard error, because standard output is
/// then for one JSON value.
Result<int> run_program(const std::vector<std::string>& words,
                        const std::vector<std::string>& environment, bool quiet);
/// True if this process has got a signal, and passed it on, that asks the program to end: SIGINT, SIGTERM.
bool was_told_to_end();

/// From now on, ^C (SIGINT) and SIGTERM do not end this process, so that it can remove what it has begun.
void note_interrupts();
bool was_interrupted();
/// Ends this process by the signal that came.
void end_as_interrupted();
/// From now on SIGUSR1 and SIGUSR2, which mean something to programs alone, do not end this process while
/// no program runs.
void survive_messages();

}  // namespace mcr::aggregation
