// SPDX-License-Identifier: BSD-3-Clause
// Names of sets that a shell takes without quotes:
//
//   out/step00005/mcr/set-rank{rank}.h5.mpi-5b08040be83eca6ebd8940a0-0.     containers begin so
//   out/step00005/rankN.h5@3f2a91c0                                         the short name
//
// `N` stands for the rank, `_` for a character that a shell may interpret. The digits after `@` are a
// checksum of the first form's last component, so the name stays valid when other sets are written.
#pragma once

#include <string>
#include <vector>

#include "aggregation/mcr/named_containers.hpp"

namespace mcr::aggregation {

/// Returns the short name of the set whose containers' paths begin with `prefix`.
std::string short_name(const std::string& prefix);

/// Returns one name for all sets of a single file that lie in the same directory and whose names
/// differ in numbers only: out/dump_N.h5@files.
std::string short_name_of_files(const std::string& prefix);

/// Returns the containers that a short name names; none if it names none. Cause::usage: several sets
/// have this short name.
Result<std::vector<NamedContainer>> containers_of_short_name(const std::string& argument);

}  // namespace mcr::aggregation
