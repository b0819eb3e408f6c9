// SPDX-License-Identifier: BSD-3-Clause
// Makes the options of a merge from settings, in the same way for the leader and for `mcr pack`.
#pragma once

#include "aggregation/commit/write_container.hpp"
#include "aggregation/merge/part_settings.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/journal.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// Returns where the containers of the part's set lie if `masked_name` is the set's name.
restart::ContainerName container_name_of(const restart::PartBegin& begin,
                                         const std::string& masked_name);

/// `fast` (after SIGTERM) overrules the profile of the settings, because there is little time.
Result<MergeOptions> merge_options(const restart::Settings& settings, bool fast);

}  // namespace mcr::aggregation
