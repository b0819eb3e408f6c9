// SPDX-License-Identifier: BSD-3-Clause
// Messages of `mcr status`, `drain`, `recover` and `run` about launches in a stage.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/leader/launches.hpp"
#include "aggregation/mcr/print.hpp"

namespace mcr::aggregation {

nlohmann::json to_json(const LaunchStatus& launch);
nlohmann::json to_json(const std::vector<LaunchStatus>& launches);
void print_launches(const std::string& stage, const std::vector<LaunchStatus>& launches);

/// Returns why the launch's last commit failed, in plain words; empty if it did not fail.
std::string failure_text(const std::string& stage, const LaunchStatus& launch);

/// Prints to standard error, in one line for each launch, why parts are still in the stage.
void print_left(std::string_view command, const std::string& stage,
                const std::vector<LaunchStatus>& left);

/// The exit code of a command that leaves these launches: pending if a leader still tries, else failure.
int exit_code_of_left(const std::vector<LaunchStatus>& left);

/// Waits until the stage is drained. Shows meanwhile what it waits for (wait_report.hpp), and prints
/// to standard error if a commit has failed and is tried again.
Result<Drained> drain_stage(std::string_view command, const std::string& stage,
                            std::uint64_t limit_ms, Launches which = Launches::all);

/// Returns a warning if another user's directory or file lies at the stage's path. It holds nothing of
/// this user's: mcr neither makes nor reads anything there. Empty if the stage is this user's or missing.
std::string foreign_stage_text(const std::string& stage);

}  // namespace mcr::aggregation
