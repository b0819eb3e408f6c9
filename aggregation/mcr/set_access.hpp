// SPDX-License-Identifier: BSD-3-Clause
// A later chmod of a stub does not reach its container: what `mcr verify` says of that.
#pragma once

#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

/// A sentence for each container of the set that more, or fewer, may read than its stubs: the first
/// such stub is named.
std::vector<std::string> differing_access(const StoredSet& set);

}  // namespace mcr::aggregation
