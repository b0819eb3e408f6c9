// SPDX-License-Identifier: BSD-3-Clause
// `mcr ls DIR`: a table of sets, one line for each.
#pragma once

#include "aggregation/mcr/sound_set.hpp"

namespace mcr::aggregation {

/// Prints the sets, the newest last. Many sets of a single file whose names differ in numbers only
/// are one line.
void print_set_table(const SetsIn& found);

}  // namespace mcr::aggregation
