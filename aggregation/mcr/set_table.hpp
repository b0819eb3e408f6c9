// SPDX-License-Identifier: BSD-3-Clause
// `mcr ls DIR`: a table of sets. One line for each set, or for many sets of single files whose names differ in numbers only.
#pragma once

#include "aggregation/mcr/sound_set.hpp"

namespace mcr::aggregation {

/// Prints the table, the newest set last.
void print_set_table(const SetsIn& found);

}  // namespace mcr::aggregation
