// SPDX-License-Identifier: BSD-3-Clause
// Checks the way to a directory that the user named, before a command changes something there.
#pragma once

#include <optional>
#include <string>

#include "codecs/base/result.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::aggregation {

/// Returns the directory to which the path leads; nothing if there is none. An error if other users may have made or renamed a symbolic link
/// on the way: the command would then change files of another run. `outcome` stands in the error, a sentence without its full stop:
/// "Nothing was removed".
Result<std::optional<restart::FileIdentity>> end_of_trusted_way(const std::string& directory,
                                                                const std::string& outcome);

}  // namespace mcr::aggregation
