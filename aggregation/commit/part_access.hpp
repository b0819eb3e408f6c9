// SPDX-License-Identifier: BSD-3-Clause
// Who may use the files of a set's parts now: a container is for those alone.
#pragma once

#include <optional>

#include "aggregation/commit/locked_parts.hpp"
#include "aggregation/commit/stub_handles.hpp"
#include "restart/base/attributes.hpp"

namespace mcr::aggregation {

/// By the stub itself, which `stubs` (may be null) holds open; else by what lies at the part's path, if
/// it is this user's: the stub, the file that the stub will replace, or the part's own native file.
/// Whoever else may write there puts what he likes at a name that the program has left. If it is
/// found nowhere, nobody but its owner counts, because the program may have closed it to all others
/// where it is now. A directory between `outer`, where there is one, and the file closes the file to all
/// who may not enter that directory.
restart::Access access_of_part(const LockedPart& part, const StubHandles* stubs,
                               const std::optional<restart::FileIdentity>& outer);

/// The directory in which the part's stub lies now or, where that is not held, the one in which it was
/// begun, if it is at its path.
std::optional<restart::File> directory_of(const LockedPart& part, const StubHandles* stubs);

}  // namespace mcr::aggregation
