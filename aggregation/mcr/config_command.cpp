// SPDX-License-Identifier: BSD-3-Clause
// mcr config [DIR]: every effective value, and where it came from.
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/file.hpp"
#include "restart/settings/launcher.hpp"

namespace mcr::aggregation {
namespace {

restart::Launcher launcher_of(const restart::Settings& settings) {
  restart::LauncherOverrides overrides;
  if (settings.is_set("rank")) overrides.rank = static_cast<std::uint32_t>(settings.count("rank"));
  if (settings.is_set("ranks"))
    overrides.rank_count = static_cast<std::uint32_t>(settings.count("ranks"));
  overrides.launch = settings.text("launch");
  overrides.node = settings.text("node");
  return restart::find_launcher(overrides);
}

}  // namespace

RunCommand declare_config(CLI::App& app) {
  const auto directory = std::make_shared<std::string>();
  const auto help = std::make_shared<bool>(false);
  app.add_option("DIR", *directory, "directory of checkpoints; its mcr.conf is read too");
  app.add_flag("--describe", *help, "say what each setting is for");
  app.footer(exit_codes_without_data);
  return [directory, help](const CommonOptions& common) {
    if (struct stat status{}; !directory->empty()) {
      if (::stat(directory->c_str(), &status) != 0)
        return print_error(common, "config", restart::system_error("cannot find", *directory));
      if (!S_ISDIR(status.st_mode)) {
        return print_error(
            common, "config",
            Error{Cause::usage,
                  *directory + " is not a directory; name the directory of the checkpoints"});
      }
    }
    std::vector<std::string> warnings;
    const auto settings = effective_settings(*directory, warnings);
    for (const std::string& warning : warnings)
      print_line(stderr, "mcr config: %s", warning.c_str());
    if (!settings) return print_error(common, "config", settings.error());
    const restart::Launcher launcher = launcher_of(*settings);
    nlohmann::json values = nlohmann::json::object();
    Table table(*help ? std::vector<std::string>{"setting", "value", "source", "for"}
                      : std::vector<std::string>{"setting", "value", "source"},
                {false, false, false, false});
    const auto add = [&](std::string_view name, std::string value, std::string source,
                         std::string_view purpose) {
      values[std::string(name)] = {{"value", value}, {"source", source}};
      std::vector<std::string> row{std::string(name), std::move(value), std::move(source)};
      if (*help) row.emplace_back(purpose);
      table.add(std::move(row));
    };
    for (const restart::SettingRow& row : restart::settings_table()) {
      if (row.name.find('<') != std::string_view::npos)
        continue;  // a family of keys: those that are set follow below
      std::string value(settings->text(row.name));
      std::string source(settings->source(row.name));
      // Show the launcher's values if no setting overrides them.
      if (!settings->is_set(row.name)) {
        if (row.name == "rank") value = std::to_string(launcher.rank);
        if (row.name == "ranks") value = std::to_string(launcher.rank_count);
        if (row.name == "launch")
          value = launcher.launch.value_or(
              "not known: files of jobs with several ranks are written natively");
        if (row.name == "node") value = launcher.node;
        if (row.name == "rank" || row.name == "ranks" || row.name == "node")
          source = launcher.source;
        if (row.name == "launch") source = launcher.launch_source;
      }
      add(row.name, std::move(value), std::move(source), row.help);
    }
    for (const auto& [name, text] : settings->codec_overrides()) {
      add(name, text, std::string(settings->source(name)), "pipeline of this type or variable");
    }
    if (common.json) {
      print_json(values);
    } else {
      table.print();
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
