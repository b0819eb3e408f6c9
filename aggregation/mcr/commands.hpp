// SPDX-License-Identifier: BSD-3-Clause
// The table of subcommands. A subcommand is a row in commands.cpp and a file of its own. The file
// has a function that declares the options and returns the function that runs the subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string_view>

namespace mcr::aggregation {

/// The options that every subcommand has.
struct CommonOptions {
  bool json = false;  ///< --json: one JSON value on standard output, nothing else
};

/// Runs a subcommand; returns the exit code (see options.hpp).
using RunCommand = std::function<int(const CommonOptions&)>;

struct CommandEntry {
  std::string_view name;
  std::string_view purpose;  ///< one line for `mcr --help`; empty: not listed there
  RunCommand (*declare)(CLI::App& app);
};
std::span<const CommandEntry> all_commands();

RunCommand declare_pack(CLI::App& app);
RunCommand declare_unpack(CLI::App& app);
RunCommand declare_ls(CLI::App& app);
RunCommand declare_verify(CLI::App& app);
RunCommand declare_recover(CLI::App& app);
RunCommand declare_latest(CLI::App& app);
RunCommand declare_status(CLI::App& app);
RunCommand declare_drain(CLI::App& app);
RunCommand declare_gc(CLI::App& app);
RunCommand declare_config(CLI::App& app);
RunCommand declare_doctor(CLI::App& app);
RunCommand declare_run(CLI::App& app);
RunCommand declare_trace(CLI::App& app);
RunCommand declare_leader(CLI::App& app);
RunCommand declare_leaders(CLI::App& app);
RunCommand declare_help(CLI::App& app);
RunCommand declare_completion(CLI::App& app);

}  // namespace mcr::aggregation
