// SPDX-License-Identifier: BSD-3-Clause
// What the decisions need of a part's journal.
#pragma once

#include "aggregation/merge/sets.hpp"
#include "restart/format/journal.hpp"

namespace mcr::aggregation {

/// The journal's settings are read; bad ones are ignored.
PartFacts facts_of(const restart::Journal& journal);

}  // namespace mcr::aggregation
