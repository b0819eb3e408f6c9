// SPDX-License-Identifier: BSD-3-Clause
// The settings in a part's journal.
#pragma once

#include "restart/format/journal.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// Returns the settings that a plugin wrote for this user. The plugin may be newer than this
/// program, so unknown settings are ignored.
restart::Settings settings_of(const restart::PartBegin& begin);

}  // namespace mcr::aggregation
