// SPDX-License-Identifier: BSD-3-Clause
// mcr completion SHELL: prints the script that completes mcr's command line. It is not listed in --help; the build
// installs its output.
#include <cstdio>
#include <memory>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/completion.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/print.hpp"

namespace mcr::aggregation {
namespace {

std::string script_for(const std::string& shell, const CLI::App& app) {
  if (shell == "bash") return bash_completion(app);
  if (shell == "zsh") return zsh_completion(app);
  return fish_completion(app);
}

}  // namespace

RunCommand declare_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "the shell that reads the script")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [&app, shell](const CommonOptions& common) {
    const std::string script = script_for(*shell, *app.get_parent());
    if (common.json) {
      print_json({{"shell", *shell}, {"script", script}});
    } else {
      std::fputs(script.c_str(), stdout);
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
