// SPDX-License-Identifier: BSD-3-Clause
// Which number in the name of a set is the program's step. Only a guess for people: no code decides
// by it.
#pragma once

#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

/// Returns the step of each set, without leading zeros; empty if the name has no number. It is the
/// number that differs between the names of sets of the same pattern: in the last component with
/// such a number, the first one. If a pattern has a single set, it is the last number in the
/// components below the directory `top`, in which the sets were found.
std::vector<std::string> steps_of(const std::vector<StoredSet>& sets, const std::string& top);

}  // namespace mcr::aggregation
