// SPDX-License-Identifier: BSD-3-Clause
// The node's resident: starts the leaders of all launches of its user on its node, so that they belong to
// its own job step and not to the program's (docs/design/leader.md, "Residents").
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

struct ResidentOptions {
  std::string stage;
  std::string node;
  /// The resident ends at the end of its standard input, which also comes if the process that
  /// started the resident dies.
  bool until_input_ends = false;
};

struct ResidentReport {
  bool served = false;               ///< false: another resident served this node all the time
  std::size_t left = 0;              ///< parts in the stage at the end
  std::optional<bool> has_launches;  ///< true if a launch began meanwhile; nothing: unknown
};

/// Serves until it is told to end, no leader that it started is at work any more, and no other leader in the
/// stage has files of programs that have ended. SIGTERM and SIGINT are passed on to its leaders, which then
/// drain what is published and end. `ready` is called once this
/// node has a resident; its argument is true if that is another one.
Result<ResidentReport> serve(const ResidentOptions& options,
                             const std::function<void(bool is_served)>& ready);

}  // namespace mcr::aggregation
