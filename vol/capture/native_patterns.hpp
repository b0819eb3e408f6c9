// SPDX-License-Identifier: BSD-3-Clause
// Tells the leader of files that it does not see, because this rank writes them natively.
#pragma once

#include <string>
#include <vector>

#include "vol/process/process.hpp"

namespace mcr::vol {

/// Records in the presence that this rank writes files of these names natively. Otherwise the leader could count
/// the rank as passed, and call a set whole that lacks the rank's files.
void tell_of_native(JobStage& job, const std::vector<std::string>& masked_names);

}  // namespace mcr::vol
