// SPDX-License-Identifier: BSD-3-Clause
// What a command shows while it waits until a stage is drained: what it waits for, and which process
// holds it. On a terminal, one line that changes; otherwise a line now and then.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>

#include "aggregation/leader/launches.hpp"
#include "aggregation/mcr/print.hpp"

namespace mcr::aggregation {

class WaitReport {
 public:
  WaitReport(std::string_view command, std::string stage, Launches which);
  /// Call it often; it looks at the stage once a second.
  void look(std::uint64_t done, std::uint64_t in_all);

 private:
  void report_failures(const std::vector<LaunchStatus>& launches);
  void report_waiting();

  using clock = std::chrono::steady_clock;
  std::string command_;
  std::string stage_;
  Launches which_;
  ProgressBar bar_;
  std::set<std::string> told_;  ///< launches whose failed commit was reported
  std::string waiting_;         ///< what is waited for
  std::string printed_;
  clock::time_point looked_ = clock::now();
  clock::time_point next_line_;
};

}  // namespace mcr::aggregation
