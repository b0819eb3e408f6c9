// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/wait_report.hpp"

#include <unistd.h>

#include <cstdio>

#include "aggregation/mcr/launch_processes.hpp"
#include "aggregation/mcr/launch_report.hpp"

namespace mcr::aggregation {
namespace {

constexpr auto look_every = std::chrono::seconds(1);
constexpr auto first_line_after = std::chrono::seconds(2);
constexpr auto line_every = std::chrono::seconds(10);

bool is_waited_for(const LaunchStatus& launch) {
  return launch.published > 0 || (launch.processes == 0 && launch.open > 0);
}

}  // namespace

WaitReport::WaitReport(std::string_view command, std::string stage, Launches which)
    : command_(command),
      stage_(std::move(stage)),
      which_(which),
      bar_("draining"),
      next_line_(clock::now() + first_line_after) {}

void WaitReport::look(std::uint64_t done, std::uint64_t in_all) {
  if (const auto now = clock::now(); now - looked_ >= look_every) {
    looked_ = now;
    if (const auto launches = look_at_stage(stage_, which_)) {
      report_failures(*launches);
      std::size_t others = 0;
      waiting_.clear();
      for (const LaunchStatus& launch : *launches) {
        if (!is_waited_for(launch)) continue;
        if (waiting_.empty()) {
          waiting_ = waiting_text(stage_, launch);
        } else {
          ++others;
        }
      }
      if (others > 0) waiting_ += "; " + std::to_string(others) + " more launches have parts";
      report_waiting();
    }
  }
  bar_.show(std::to_string(done) + " of " + std::to_string(in_all) +
            (waiting_.empty() ? "" : "; " + waiting_));
}

/// Reports once per launch that a commit failed and is tried again.
void WaitReport::report_failures(const std::vector<LaunchStatus>& launches) {
  for (const LaunchStatus& launch : launches) {
    const std::string text = launch.published > 0 ? failure_text(stage_, launch) : std::string();
    if (text.empty() || !told_.insert(launch.path).second) continue;
    bar_.erase();
    print_line(stderr, "mcr %s: waiting for storage: %s", command_.c_str(), text.c_str());
  }
}

/// Where no terminal shows the bar: prints what is waited for when it has changed.
void WaitReport::report_waiting() {
  if (bar_.is_on_terminal() || waiting_.empty() || waiting_ == printed_ ||
      clock::now() < next_line_)
    return;
  printed_ = waiting_;
  next_line_ = clock::now() + line_every;
  print_line(stderr, "mcr %s: %s", command_.c_str(), waiting_.c_str());
}

}  // namespace mcr::aggregation
