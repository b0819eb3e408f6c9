// SPDX-License-Identifier: BSD-3-Clause
// Names that variables keep from one set to the next. Some programs write the step into the names of
// datasets (`rho it=1024 rl=0`, `rho it=1024 rl=1`), so that no name of a set occurs in the next
// one. Such a number is the same in all names of a set that are equal but for their numbers. Pure
// functions.
#pragma once

#include <string>
#include <vector>

namespace mcr::aggregation {

/// Stands for a number. Names of HDF5 do not have it.
inline constexpr char any_number = '\0';

/// Returns the names with `any_number` for each number that all names of the same form have in
/// common. Two names have the same form if they differ in numbers only. Different names stay
/// different.
std::vector<std::string> stable_names(const std::vector<std::string>& names);

}  // namespace mcr::aggregation
