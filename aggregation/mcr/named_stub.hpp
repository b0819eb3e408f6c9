// SPDX-License-Identifier: BSD-3-Clause
// Checks a stub that the user named, before the files of its whole set are written.
#pragma once

#include <string>

#include "aggregation/mcr/named_containers.hpp"

namespace mcr::aggregation {

/// An error in three cases. A symbolic link that other users may have put there leads to the stub. Or the stub leads to
/// containers in no directory above it, and other users may write to the stub or replace it; or none of these containers has the
/// stub's own part, so that the stub may be a copy of one that another user has made. In each case
/// they could have files of a closed directory unpacked. Looks at the stub that was read: another file may have taken its
/// place since.
Result<void> check_stub(const std::string& argument, const NamedByArgument& named_by);

}  // namespace mcr::aggregation
