// SPDX-License-Identifier: BSD-3-Clause
// The settings in a part's journal.
#pragma once

#include "restart/format/journal.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// Returns the settings that a plugin of this user wrote, perhaps a newer one. Unknown settings are
/// ignored.
restart::Settings settings_of(const restart::PartBegin& begin);

}  // namespace mcr::aggregation
