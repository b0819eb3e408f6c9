// SPDX-License-Identifier: BSD-3-Clause
// Files whose bytes wait in a stage: paths, sizes, and where the bytes went in the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aggregation/leader/launches.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::aggregation {

struct WaitingPart {
  restart::PartId id;
  std::string path;  ///< of the program's file
  std::uint64_t bytes = 0;
};

/// Returns the launch's published parts. Parts whose journal cannot be read are left out.
std::vector<WaitingPart> published_parts(const std::string& stage, const LaunchStatus& launch);

/// Counts, for parts that waited in the stage, what lies at their paths now.
struct Outcome {
  std::size_t committed = 0;
  std::size_t native = 0;   ///< plain files
  std::size_t waiting = 0;  ///< still in the stage
  std::size_t gone = 0;     ///< renamed, removed, or followed by a newer file of the same name
};
Outcome outcome_of(const std::vector<WaitingPart>& parts, const std::vector<WaitingPart>& waiting);

/// Formats "12 committed, 1 written as a plain file".
std::string outcome_text(const Outcome& outcome);

}  // namespace mcr::aggregation
