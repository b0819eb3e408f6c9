// SPDX-License-Identifier: BSD-3-Clause
// The subcommands that the Python package mcr_hdf5 brings (restart/python): view, diff, plot.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcr::aggregation {

std::span<const std::string_view> python_commands();
bool is_python_command(std::string_view name);

/// Replaces this process by `python3 -m mcr_hdf5 WORDS`; the first word is the command. Returns the
/// exit code only if there is no python3, after a message with the remedy.
int run_python_command(const std::vector<std::string>& words);

}  // namespace mcr::aggregation
