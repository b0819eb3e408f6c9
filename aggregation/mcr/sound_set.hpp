// SPDX-License-Identifier: BSD-3-Clause
// The newest set that a restart can have: whole, and every frame of it reads.
#pragma once

#include <vector>

#include "aggregation/commit/retention.hpp"

namespace mcr::aggregation {

/// Of the whole sets the newest whose containers read to the end; what is wrong with newer ones is
/// said on stderr, as a line of `command`. nullptr: there is none. Reads what a restart would read.
const StoredSet* newest_sound(const std::vector<StoredSet>& sets, const char* command);

/// "whole", "incomplete", "unknown".
const char* wholeness_name(Wholeness wholeness);

}  // namespace mcr::aggregation
