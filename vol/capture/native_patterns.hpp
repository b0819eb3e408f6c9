// SPDX-License-Identifier: BSD-3-Clause
// Tells the leader of files that it does not see, because this rank writes them natively or elsewhere.
#pragma once

#include <string>
#include <vector>

#include "vol/capture/capture_rule.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

/// Records in the presence that this rank writes files of these names natively. Otherwise the leader could count
/// the rank as passed, and call a set whole that lacks the rank's files.
void tell_of_native(JobStage& job, const std::vector<std::string>& masked_names);

/// The same for a file that a link leads elsewhere: records the names that the file would have without it.
/// `file` tells the name as passed, and the path to which it leads.
void tell_of_led_away(JobStage& job, const NameQuestion& file);

}  // namespace mcr::vol
