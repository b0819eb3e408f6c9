// SPDX-License-Identifier: BSD-3-Clause
// From settings to the options of a merge: the same for the leader and for `mcr pack`.
#pragma once

#include "aggregation/commit/write_container.hpp"
#include "restart/base/settings.hpp"

namespace mcr::aggregation {

/// `fast`: nobody has time (SIGTERM); what the settings say of the profile is overruled.
Result<MergeOptions> merge_options(const restart::Settings& settings, bool fast);

}  // namespace mcr::aggregation
