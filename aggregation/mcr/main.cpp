// SPDX-License-Identifier: BSD-3-Clause
// mcr COMMAND: finds the subcommand in the table, reads its options, runs it.
#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string_view>
#include <vector>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/options.hpp"
#include "aggregation/mcr/print.hpp"

namespace mcr::aggregation {
namespace {

// This process uses HDF5 by itself: neither our own connector nor somebody else's may come between.
// What is open is closed where it was opened; of an object whose close failed, because storage
// refused the write, HDF5 would call a connector at exit that it has freed before.
void prepare_hdf5() {
  ::H5dont_atexit();
  for (const char* name : {"HDF5_VOL_CONNECTOR", "HDF5_DRIVER", "HDF5_DRIVER_CONFIG"})
    ::unsetenv(name);
  ::setenv("HDF5_PLUGIN_PRELOAD", "::", 1);  // no plugin is looked for
}

int run(int count, char** words) {
  CLI::App app("Transparent checkpoints: many rank files as one compressed HDF5 container.");
  app.name("mcr");
  app.set_version_flag("--version", "mcr " MCR_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // --json may stand behind the subcommand's name
  app.footer(
      "Exit codes: 0 done, 1 the system refused or something is missing, 2 wrong usage, 3 damaged "
      "data, 4 not finished in time.");
  CommonOptions common;
  app.add_flag("--json", common.json, "one JSON value on standard output");

  std::vector<std::pair<CLI::App*, RunCommand>> commands;
  for (const CommandEntry& entry : all_commands()) {
    CLI::App* command = app.add_subcommand(std::string(entry.name), std::string(entry.purpose));
    commands.emplace_back(command, entry.declare(*command));
  }
  // What the parser has not read any more counts too.
  const bool json =
      std::find(words + 1, words + count, std::string_view("--json")) != words + count;
  const auto failed = [json](const std::string& why) {
    if (json) print_json({{"error", why}});
    return exit_code::usage;
  };
  char** const name =
      std::find_if(words + 1, words + count, [](const char* word) { return word[0] != '-'; });
  const auto entries = all_commands();
  if (name != words + count && std::none_of(entries.begin(), entries.end(),
                                            [&](const auto& it) { return it.name == *name; })) {
    const std::string why =
        "there is no command " + std::string(*name) + "; `mcr --help` lists them";
    print_line(stderr, "mcr: %s", why.c_str());
    return failed(why);
  }
  try {  // CLI11 is a library that throws
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream errors;
    const int status = app.exit(error, out, errors);
    std::fputs(out.str().c_str(), stdout);
    std::istringstream lines(errors.str());
    for (std::string line; std::getline(lines, line);) print_line(stderr, "%s", line.c_str());
    return status == 0 ? exit_code::success : failed(error.what());
  }
  for (const auto& [command, run_command] : commands) {
    if (command->parsed()) return run_command(common);
  }
  return exit_code::usage;
}

}  // namespace
}  // namespace mcr::aggregation

int main(int count, char** words) {
  mcr::aggregation::prepare_hdf5();
  try {
    return mcr::aggregation::run(count, words);
  } catch (const std::exception& error) {  // no memory, and what libraries throw
    mcr::aggregation::print_line(stderr, "mcr: %s", error.what());
    return mcr::aggregation::exit_code::failure;
  }
}
