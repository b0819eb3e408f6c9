// SPDX-License-Identifier: BSD-3-Clause
// Names of sets whose containers' names begin alike. With container_dir=../NAME, the containers of
// step1/a.{rank}.h5 and step2/a.{rank}.h5 lie in one directory, and their names have the same beginning. The
// distinct name of such a set ends in its ContainerName::distinct_prefix.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"
#include "aggregation/mcr/named_containers.hpp"

namespace mcr::aggregation {

/// Returns one name for each set: the common beginning of the paths of its containers. If another set has
/// the same beginning, the name is the distinct one, for example out/sets/set-step1+a.{rank}.h5.<launch>-0.
std::vector<std::string> distinct_names(const std::vector<StoredSet>& sets);

/// Returns the containers in a directory whose set has a distinct name that `fits` accepts; `fits` gets the
/// last component of that name. Reads the tables of all containers there.
std::vector<NamedContainer> containers_of_distinct_name(
    const std::string& directory, const std::function<bool(const std::string& beginning)>& fits);

}  // namespace mcr::aggregation
