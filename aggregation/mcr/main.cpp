// SPDX-License-Identifier: BSD-3-Clause
// mcr COMMAND: finds the subcommand in the table, reads its options, runs it.
#include <hdf5.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/python_command.hpp"
#include "codecs/gpu/lanes/open_card.hpp"

namespace mcr::aggregation {
namespace {

// Keeps connectors, ours included, out of this process, because it uses HDF5 itself. Also disables
// HDF5's cleanup at exit, which is not needed, because every object is closed where it was opened.
// If storage refused a write and a close therefore failed, the cleanup would call a connector that
// HDF5 has already freed.
void prepare_hdf5() {
  ::H5dont_atexit();
  for (const char* name : {"HDF5_VOL_CONNECTOR", "HDF5_DRIVER", "HDF5_DRIVER_CONFIG"})
    ::unsetenv(name);
  ::setenv("HDF5_PLUGIN_PRELOAD", "::", 1);  // disables all plugins
}

// Keeps freed memory in this process. Buffers of a block are freed and needed again for the next block, and
// new pages cost a leader a twentieth of its CPU time.
void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc accepts
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

bool is_command(std::string_view name) {
  const auto entries = all_commands();
  return std::any_of(entries.begin(), entries.end(),
                     [&](const CommandEntry& entry) { return entry.name == name; });
}

/// Returns the error as text that begins with the subcommand's name. If an option is unknown and an
/// argument is missing, names the option, although CLI11 reports the argument first.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  std::string name = "mcr";
  for (const CLI::App* const command : app.get_subcommands()) name += " " + command->get_name();
  const std::vector<std::string> left = app.remaining(true);
  const auto unknown = std::find_if(left.begin(), left.end(), [](const std::string& word) {
    return word.size() > 1 && word.starts_with('-') && word != "--";
  });
  const std::string what = unknown == left.end() ? error.what() : "there is no option " + *unknown;
  return name + ": " + what + "; `" + name + " --help` lists the options";
}

int run(std::vector<std::string> words) {
  CLI::App app("Transparent checkpoints: many rank files as one compressed HDF5 container.");
  app.name("mcr");
  app.set_version_flag("-V,--version", "mcr " MCR_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // --json may follow the subcommand's name
  app.footer(
      "`mcr help` lists the pages of the guide; `mcr help COMMAND` shows a manual page.\n"
      "Exit codes: 0 done, 1 the system refused or something is missing, 2 wrong usage, 3 damaged "
      "data, 4 not finished in "
      "time.\nWith the Python package mcr-hdf5: `mcr view`, `mcr diff` and `mcr plot` "
      "(docs/python.md).");
  CommonOptions common;
  app.add_flag("--json", common.json, "one JSON value on standard output");

  std::vector<std::pair<CLI::App*, RunCommand>> commands;
  for (const CommandEntry& entry : all_commands()) {
    CLI::App* command = app.add_subcommand(std::string(entry.name), std::string(entry.purpose));
    if (entry.purpose.empty()) command->group("");  // hidden
    commands.emplace_back(command, entry.declare(*command));
  }
  // Look at all words: the parser may have stopped before --json.
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  const auto failed = [json](const std::string& why) {
    if (json) print_json({{"error", why}});
    return exit_code::usage;
  };
  const auto name = std::find_if(words.begin(), words.end(),
                                 [](const std::string& word) { return !word.starts_with('-'); });
  if (name != words.end() && is_python_command(*name)) {
    std::rotate(words.begin(), name, name + 1);
    return run_python_command(words);
  }
  if (name != words.end() && !is_command(*name)) {
    const std::string why = "there is no command " + *name + "; `mcr --help` lists them";
    print_line(stderr, "mcr: %s", why.c_str());
    return failed(why);
  }
  try {                                        // CLI11 is a library that throws
    std::reverse(words.begin(), words.end());  // CLI11 expects the words in reverse order
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // help or version was asked for
      std::ostringstream out;
      app.exit(error, out, out);
      std::fputs(out.str().c_str(), stdout);
      return exit_code::success;
    }
    const std::string why = complaint(app, error);
    print_line(stderr, "%s", why.c_str());
    return failed(why);
  }
  for (const auto& [command, run_command] : commands) {
    if (command->parsed()) return run_command(common);
  }
  return exit_code::usage;
}

}  // namespace
}  // namespace mcr::aggregation

namespace {

/// The status of a command whose output was written; a failure if standard output took not all of it.
int written(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  const std::string why = std::strerror(errno);
  mcr::aggregation::print_line(stderr, "mcr: cannot write to standard output: %s", why.c_str());
  return status == mcr::aggregation::exit_code::success ? mcr::aggregation::exit_code::failure
                                                        : status;
}

/// The status of this process once the command's work is done, or has failed with a message; before that -1.
constinit std::atomic<int> final_status{-1};

/// A library may call exit(), as a driver that finds no card. That must not make an unfinished command look like a success,
/// nor change the status of a finished one.
void end_with_final_status() {
  const int status = final_status;
  if (status >= 0) {
    if (mcr::codecs::gpu::was_card_asked()) {
      std::fflush(nullptr);
      ::_exit(status);
    }
    return;
  }
  constexpr std::string_view text =
      "mcr: a library ended this process before the command was done (a GPU's driver, for "
      "example). "
      "Its output may be incomplete. If gpu= is set, set gpu=off in the same place and run the "
      "command "
      "again\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(mcr::aggregation::exit_code::failure);
}

}  // namespace

int main(int count, char** words) {
  std::atexit(end_with_final_status);
  mcr::aggregation::prepare_hdf5();
  mcr::aggregation::keep_freed_memory();
  try {
    const int status = written(mcr::aggregation::run({words + 1, words + count}));
    final_status = status;
    if (mcr::codecs::gpu::was_card_asked()) {
      // A thread may be in a driver that starts slowly, whose own work at the exit could meet it; or the driver
      // may wait at the exit for a card that does not answer.
      std::fflush(nullptr);
      ::_exit(status);
    }
    return status;
  } catch (const std::exception& error) {  // out of memory, or an exception of a library
    mcr::aggregation::print_line(stderr, "mcr: %s", error.what());
    final_status = mcr::aggregation::exit_code::failure;
    return final_status;
  }
}
