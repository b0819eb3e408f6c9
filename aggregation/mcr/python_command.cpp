// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/python_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/print.hpp"
#include "restart/base/exec_list.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::array<std::string_view, 3> table{"view", "diff", "plot"};

// As `python3 -m mcr_hdf5`, but never imports a module from the current directory, which may belong
// to another user.
constexpr const char* program = R"(import sys
if sys.path[:1] == [""]: del sys.path[0]
import importlib.util, runpy
if importlib.util.find_spec("mcr_hdf5") is None:
    sys.exit("mcr " + sys.argv[1] + ": " + sys.executable + " does not have the package mcr-hdf5, which brings view, diff and "
             "plot. Install its wheel with pip (docs/python.md), or activate the environment that has it")
runpy.run_module("mcr_hdf5", run_name="__main__", alter_sys=True)
)";

/// Puts the directory of this command first on PATH, where the package looks for `mcr`.
void prepend_own_directory() {
  std::error_code problem;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return;
  const char* const path = std::getenv("PATH");
  const std::string directory = self.parent_path().string();
  ::setenv("PATH", path == nullptr ? directory.c_str() : (directory + ":" + path).c_str(), 1);
}

}  // namespace

std::span<const std::string_view> python_commands() { return table; }

bool is_python_command(std::string_view name) {
  return std::find(table.begin(), table.end(), name) != table.end();
}

int run_python_command(const std::vector<std::string>& words) {
  ::unsetenv("HDF5_PLUGIN_PRELOAD");  // main() disables plugins; the package needs them
  prepend_own_directory();
  std::vector<std::string> all{"python3", "-c", program};
  all.insert(all.end(), words.begin(), words.end());
  ::execvp("python3", restart::exec_list(all).data());
  print_line(stderr,
             "mcr: cannot run python3, which view, diff and plot need: %s; install Python 3.10 or "
             "newer and "
             "the package mcr-hdf5 (docs/python.md)",
             std::strerror(errno));
  return exit_code::failure;
}

}  // namespace mcr::aggregation
