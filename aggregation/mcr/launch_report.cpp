// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/launch_report.hpp"

#include <cstdio>
#include <cstdlib>

#include "restart/base/path_names.hpp"
#include "restart/leader_files.hpp"

namespace mcr::aggregation {
namespace {

std::uint64_t number(const LaunchStatus& launch, const char* key) {
  const auto found = launch.summary.find(key);
  return found == launch.summary.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::string name_of(const LaunchStatus& launch) { return restart::name_of(launch.path); }

std::string leader_text(const LaunchStatus& launch) {
  if (!launch.has_leader) return "no";
  return launch.what_stands_still().empty() ? "yes" : "stands still";
}

}  // namespace

nlohmann::json to_json(const LaunchStatus& launch) {
  nlohmann::json summary = nlohmann::json::object();
  for (const auto& [key, value] : launch.summary) {
    if (key == "last_failure" || key == "doing") {
      summary[key] = value;
    } else {
      summary[key] = std::strtoull(value.c_str(), nullptr, 10);
    }
  }
  return {{"launch", launch.path},
          {"leader", launch.has_leader},
          {"processes", launch.processes},
          {"open", launch.open},
          {"published", launch.published},
          {"kept", launch.kept},
          {"stage_bytes", launch.bytes},
          {"summary", summary},
          {"stands_still", launch.what_stands_still()}};
}

nlohmann::json to_json(const std::vector<LaunchStatus>& launches) {
  nlohmann::json all = nlohmann::json::array();
  for (const LaunchStatus& launch : launches) all.push_back(to_json(launch));
  return all;
}

void print_launches(const std::vector<LaunchStatus>& launches) {
  Table table({"launch", "leader", "processes", "open", "published", "kept", "stage", "sets", "raw",
               "stored"},
              {false, false, true, true, true, true, true, true, true, true});
  for (const LaunchStatus& launch : launches) {
    table.add({name_of(launch), leader_text(launch), std::to_string(launch.processes),
               std::to_string(launch.open), std::to_string(launch.published),
               std::to_string(launch.kept), size_text(launch.bytes),
               std::to_string(number(launch, "sets")), size_text(number(launch, "raw_bytes")),
               size_text(number(launch, "stored_bytes"))});
  }
  table.print();
  for (const LaunchStatus& launch : launches) {
    const std::string still = launch.what_stands_still();
    if (!still.empty()) print_line(stdout, "%s: %s", name_of(launch).c_str(), still.c_str());
    if (launch.needs_leader()) {
      print_line(stdout, "%s: no leader sees to it: `mcr recover` starts one",
                 name_of(launch).c_str());
    }
  }
}

void print_left(std::string_view command, const std::vector<LaunchStatus>& left) {
  for (const LaunchStatus& launch : left) {
    const auto failure = launch.summary.find("last_failure");
    const std::string still = launch.what_stands_still();
    std::string why = failure != launch.summary.end() ? failure->second
                      : !still.empty()                ? still
                      : launch.processes > 0
                          ? "its processes still run"
                          : "see " + launch.path + "/" + restart::leader_files::log_name;
    print_line(stderr, "mcr %.*s: %zu published and %zu open parts remain in %s: %s",
               static_cast<int>(command.size()), command.data(), launch.published, launch.open,
               launch.path.c_str(), why.c_str());
  }
}

Result<Drained> drain_stage(const std::string& stage, std::uint64_t limit_ms) {
  ProgressBar bar("draining");
  return wait_until_drained(stage, limit_ms, bar.function());
}

}  // namespace mcr::aggregation
