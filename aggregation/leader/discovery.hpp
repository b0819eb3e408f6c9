// SPDX-License-Identifier: BSD-3-Clause
// Makes events of published parts and dead processes, by comparing the contents of a launch
// directory with what it reported before. The next leader of the launch begins without this
// knowledge, and finds everything anew.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "aggregation/commit/stub_handles.hpp"
#include "aggregation/leader/decisions.hpp"
#include "aggregation/leader/launch_clock.hpp"
#include "aggregation/leader/requests.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

class Discovery {
 public:
  /// Every part that is reported is also given to `stubs`, `requests` and `clock`, unless they are
  /// null.
  explicit Discovery(const restart::LaunchDirectory& directory, StubHandles* stubs = nullptr,
                     Requests* requests = nullptr, LaunchClock* clock = nullptr)
      : directory_(directory), stubs_(stubs), requests_(requests), clock_(clock) {}

  /// Returns what has changed since the last call. Changes nothing, except that it drops empty
  /// journals of dead writers.
  Result<std::vector<Event>> scan();

  /// Forgets parts that the leader took out of published/. A part that is still there is reported
  /// again by the next scan.
  void forget(const std::vector<PartId>& parts);

  /// The part was withdrawn since the last scan. If its rank has published it again since, the next scan reports
  /// it as published.
  void note_withdrawn(const PartId& part) {
    if (const auto known = parts_.find(part); known != parts_.end())
      known->second.place = Place::open;
  }

 private:
  enum class Place : std::uint8_t { open, published };
  struct Known {
    Place place = Place::open;
    std::string presence;
    std::uint32_t rank = 0;
    std::string family;  ///< empty: it does not matter for this part whether the family is unranked
  };
  struct Process {
    bool alive = true;
    bool ended = false;
    std::set<std::string> native_patterns = {};
  };

  Result<void> scan_processes(std::vector<Event>& events);
  Result<void> scan_parts(std::vector<Event>& events);
  void report(const PartId& id, Place place, std::vector<Event>& events);
  void report_strangers(std::vector<Event>& events);
  void report_unranked(std::vector<Event>& events);
  [[nodiscard]] bool nobody_lives() const;
  void remember(const restart::PartBegin& begin);
  void forget_elsewhere(const PartId& part);

  const restart::LaunchDirectory& directory_;
  StubHandles* stubs_;
  Requests* requests_;
  LaunchClock* clock_;
  std::map<PartId, Known> parts_;
  std::map<std::string, Process> processes_;
  std::set<PartId> unreadable_;     ///< reported once
  std::set<std::string> unranked_;  ///< families that were reported
};

}  // namespace mcr::aggregation
