// SPDX-License-Identifier: BSD-3-Clause
// From settings to the options of a merge: the same for the leader and for `mcr pack`.
#pragma once

#include "aggregation/commit/write_container.hpp"
#include "aggregation/merge/part_settings.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/journal.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// Where the containers lie of the set that the part belongs to under one of its masked names.
restart::ContainerName container_name_of(const restart::PartBegin& begin,
                                         const std::string& masked_name);

/// `fast`: nobody has time (SIGTERM); what the settings say of the profile is overruled.
Result<MergeOptions> merge_options(const restart::Settings& settings, bool fast);

}  // namespace mcr::aggregation
