// SPDX-License-Identifier: BSD-3-Clause
// The path that a restart opens to get a rank's file of a set: for `mcr latest --file` and for the
// command that `mcr run --restart` runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

/// Returns the path under which the program wrote the file of this rank; nullopt: of the lowest
/// rank that has one. Cause::system: the rank has no file in the set, or a file that is not the owner's
/// stub lies there.
Result<std::string> written_path(const StoredSet& set, std::optional<std::uint32_t> rank);

/// Returns the path at which the file of this rank lies now. It is searched for in the directory in
/// which the program wrote it, because programs rename their files there. A stub is opened, to make sure that
/// it gives the file of this set; a native file is not opened. Cause::system: there is no such path.
Result<std::string> restart_path(const StoredSet& set, std::optional<std::uint32_t> rank);

}  // namespace mcr::aggregation
