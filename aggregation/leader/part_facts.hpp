// SPDX-License-Identifier: BSD-3-Clause
// The facts of a part's journal that the decisions need.
#pragma once

#include "aggregation/merge/sets.hpp"
#include "restart/format/journal.hpp"

namespace mcr::aggregation {

/// Reads the journal and its settings; invalid settings are ignored.
PartFacts facts_of(const restart::Journal& journal);

}  // namespace mcr::aggregation
