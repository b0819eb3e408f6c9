// SPDX-License-Identifier: BSD-3-Clause
// What `mcr verify` says of a later chmod of a stub, which does not reach its container.
#pragma once

#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

/// Returns a sentence for each container of the set that more or fewer users may read than one of
/// its stubs; names the first such stub.
std::vector<std::string> differing_access(const StoredSet& set);

}  // namespace mcr::aggregation
