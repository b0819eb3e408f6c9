// SPDX-License-Identifier: BSD-3-Clause
// The settings that ride in a part's journal.
#pragma once

#include "restart/format/journal.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// Written by a plugin of this user, perhaps a newer one: what is not understood keeps its default.
restart::Settings settings_of(const restart::PartBegin& begin);

}  // namespace mcr::aggregation
