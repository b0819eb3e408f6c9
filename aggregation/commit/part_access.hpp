// SPDX-License-Identifier: BSD-3-Clause
// Which users may use the files of a set's parts now. Only these users may read the set's
// container.
#pragma once

#include <optional>

#include "aggregation/commit/locked_parts.hpp"
#include "aggregation/commit/stub_handles.hpp"
#include "restart/base/attributes.hpp"

namespace mcr::aggregation {

/// Returns the access rights of the stub that `stubs` (may be null) holds open. If no descriptor of the stub is held,
/// returns those of the file at the part's path: the stub, the file that the stub will replace, or the part's own
/// native file. Only the owner gets access if the stub has lost its name, or if a program has begun to write the file
/// anew: a chmod of the file or of a directory is then about other data. Another user's file at the path is ignored,
/// because any user can put a file at a name that the program no longer uses. If no file is found, only the owner gets
/// access, because the program may have closed the file to all other users. If `outer` is given, each directory
/// between it and the file limits access to the users who may enter that directory.
restart::Access access_of_part(const LockedPart& part, const StubHandles* stubs,
                               const std::optional<restart::FileIdentity>& outer);

/// Returns the directory in which the part's stub lies now. If no descriptor of the stub is held,
/// returns the directory in which the part was begun, if that is still at its path.
std::optional<restart::File> directory_of(const LockedPart& part, const StubHandles* stubs);

}  // namespace mcr::aggregation
