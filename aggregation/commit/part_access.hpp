// SPDX-License-Identifier: BSD-3-Clause
// Which users may use the files of a set's parts now; only they may read its container.
#pragma once

#include <optional>

#include "aggregation/commit/locked_parts.hpp"
#include "aggregation/commit/stub_handles.hpp"
#include "restart/base/attributes.hpp"

namespace mcr::aggregation {

/// Returns the access rights of the stub that `stubs` (may be null) holds open; if the program has
/// removed or replaced the stub since, those that it had at last. Without a descriptor, those
/// of the file at the part's path if it is this user's: the stub, the file that the stub will
/// replace, or the part's own native file. Other users' files are ignored, because they can put any
/// file at a name that the program has left.
/// If no file is found, only the owner gets access, because the program may have closed the file to
/// all others. A directory between `outer`, if given, and the file limits access to users who may
/// enter it.
restart::Access access_of_part(const LockedPart& part, const StubHandles* stubs,
                               const std::optional<restart::FileIdentity>& outer);

/// Returns the directory in which the part's stub lies now. If no descriptor of the stub is held,
/// returns the directory in which the part was begun, if that is still at its path.
std::optional<restart::File> directory_of(const LockedPart& part, const StubHandles* stubs);

}  // namespace mcr::aggregation
