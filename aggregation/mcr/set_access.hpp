// SPDX-License-Identifier: BSD-3-Clause
// Tells, for `mcr verify`, which stubs and containers differ in access, because a later chmod of a
// stub does not change its container.
#pragma once

#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

/// Returns a sentence for each container of the set that more users, or fewer users, may read than
/// one of its stubs. The sentence names the first such stub.
std::vector<std::string> differing_access(const StoredSet& set);

}  // namespace mcr::aggregation
