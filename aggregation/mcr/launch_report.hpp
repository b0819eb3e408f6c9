// SPDX-License-Identifier: BSD-3-Clause
// What `mcr status`, `drain`, `recover` and `run` say about launches in a stage.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "aggregation/leader/launches.hpp"
#include "aggregation/mcr/print.hpp"

namespace mcr::aggregation {

nlohmann::json to_json(const LaunchStatus& launch);
nlohmann::json to_json(const std::vector<LaunchStatus>& launches);
void print_launches(const std::vector<LaunchStatus>& launches);

/// Why parts are still there, one line for each launch, on standard error.
void print_left(std::string_view command, const std::vector<LaunchStatus>& left);

/// Drains the stage with a progress bar.
Result<Drained> drain_stage(const std::string& stage, std::uint64_t limit_ms);

}  // namespace mcr::aggregation
