// SPDX-License-Identifier: BSD-3-Clause
// What `mcr status`, `drain`, `recover` and `run` say about launches in a stage.
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

/// Why the launch's last commit failed, in plain words; empty: none failed.
std::string failure_text(const std::string& stage, const LaunchStatus& launch);

/// Why parts are still there, one line for each launch, on standard error.
void print_left(std::string_view command, const std::string& stage,
                const std::vector<LaunchStatus>& left);

/// Drains the stage with a progress bar, and says on standard error what it waits for where commits fail.
Result<Drained> drain_stage(std::string_view command, const std::string& stage,
                            std::uint64_t limit_ms);

}  // namespace mcr::aggregation
