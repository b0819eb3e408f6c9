// SPDX-License-Identifier: BSD-3-Clause
// Requests of ranks on other nodes for this node's parts (restart/open/part_request.hpp).
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "aggregation/leader/decisions.hpp"
#include "restart/format/journal.hpp"

namespace mcr::aggregation {

/// Thread-safe: the leader's loop remembers; a worker looks, because storage may be slow.
class Requests {
 public:
  /// Ignores parts of a launch whose ranks are all on this node: no other node can ask for them.
  void remember(const restart::PartBegin& begin);
  void forget(const restart::PartId& part);
  [[nodiscard]] bool may_come() const;

  /// Returns the requests. One system call for each directory of containers tells whether there are
  /// any requests.
  std::vector<Event> look();

 private:
  struct Place {
    std::string directory;
    std::string node;
    std::string launch;
  };

  mutable std::mutex mutex_;
  std::map<restart::PartId, Place> parts_;
};

}  // namespace mcr::aggregation
