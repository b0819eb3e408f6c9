// SPDX-License-Identifier: BSD-3-Clause
// Which variables are coded together: those that on one or two trial frames are computed from
// others, or repeat others, for less than they cost alone; and what these need. All others keep
// plain frames.
#pragma once

#include <string>
#include <vector>

#include "aggregation/merge/choice_memory.hpp"
#include "aggregation/merge/fetch.hpp"
#include "aggregation/merge/plan.hpp"
#include "codecs/choice/profiles.hpp"

namespace mcr::aggregation {

/// Sets `linked` of the datasets that gain and, where there are any, appends the dataset of
/// batches. Answers by dataset why it is linked (empty: it is not). Reads one trial frame from
/// `files`, or two of many, on so many threads; none where `known` says which to link.
Result<std::vector<std::string>> choose_solid(std::vector<DatasetPlan>& datasets,
                                              const PartFiles& files,
                                              const codecs::ProfileOptions& profile,
                                              std::uint32_t bytes_type, std::uint64_t frame_bytes,
                                              const std::optional<ChoiceMemory::Links>& known,
                                              unsigned threads);

}  // namespace mcr::aggregation
