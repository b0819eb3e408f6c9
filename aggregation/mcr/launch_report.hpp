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

/// Prints why parts are still there to standard error, one line for each launch.
void print_left(std::string_view command, const std::string& stage,
                const std::vector<LaunchStatus>& left);

/// Drains the stage with a progress bar. Prints to standard error which failed commits it waits
/// for.
Result<Drained> drain_stage(std::string_view command, const std::string& stage,
                            std::uint64_t limit_ms);

}  // namespace mcr::aggregation
