// SPDX-License-Identifier: BSD-3-Clause
// Chooses the variables that are coded together in solid frames. These are the variables that cost
// less in trial frames, because they are computed from other variables or repeat them, and the
// variables on which they depend. All others keep plain frames.
#pragma once

#include <string>
#include <vector>

#include "aggregation/merge/choice_memory.hpp"
#include "aggregation/merge/fetch.hpp"
#include "aggregation/merge/plan.hpp"
#include "codecs/choice/profiles.hpp"

namespace mcr::aggregation {

/// Sets `linked` of the datasets that gain and, if there are any, appends the dataset of batches.
/// `suits_table` says for each dataset whether it would be in a table (merge/tables) and so cost less, if it is not linked.
/// Returns for each dataset why it is linked (empty: it is not). If `known` is given, links these
/// datasets. Otherwise reads from `files`, on `threads` threads, the trial frames of one slab, or
/// of two if there are many slabs.
Result<std::vector<std::string>> choose_solid(
    std::vector<DatasetPlan>& datasets, const std::vector<bool>& suits_table,
    const PartFiles& files, const codecs::ProfileOptions& profile, std::uint32_t bytes_type,
    std::uint64_t frame_bytes, const std::optional<ChoiceMemory::Links>& known, unsigned threads);

}  // namespace mcr::aggregation
