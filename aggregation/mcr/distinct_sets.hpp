// SPDX-License-Identifier: BSD-3-Clause
// Names of sets whose containers' names begin alike: with container_dir=../NAME, the containers of
// step1/a.{rank}.h5 and step2/a.{rank}.h5 lie in one directory and have the same names but for a number
// (ContainerName::distinct_prefix).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"
#include "aggregation/mcr/options.hpp"

namespace mcr::aggregation {

/// Returns a name of each set: the beginning of the paths of its containers or, if another set has the
/// same beginning, a name that only this set has, as out/sets/set-step1+a.{rank}.h5.<launch>-0.
std::vector<std::string> distinct_names(const std::vector<StoredSet>& sets);

/// Returns the containers in a directory whose set has a distinct name that `fits` accepts. `fits` is
/// given the last component. Reads the tables of all containers there.
std::vector<NamedContainer> containers_of_distinct_name(
    const std::string& directory, const std::function<bool(const std::string& beginning)>& fits);

}  // namespace mcr::aggregation
