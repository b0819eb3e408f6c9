// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "restart/settings/launcher.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::restart {

/// Returns the name under which this node's leaders and residents are found: node=, or the host name.
inline std::string node_name(const Settings& settings) {
  const std::string_view given = settings.text("node");
  return given.empty() ? host_name() : std::string(given);
}

}  // namespace mcr::restart
