// SPDX-License-Identifier: BSD-3-Clause
// Publish: the moment at which a closed part becomes visible to the leader, and after which no
// death of any process loses it (promise 3). No fsync, no directory scan, no walk over the file.
#pragma once

#include <string>

#include "vol/capture/staged_file.hpp"

namespace mcr::vol {

/// Where the part's containers will lie; empty where that is not known.
std::string containers_of(const StagedPart& part);

/// The stub that names the part.
restart::Stub stub_of(const StagedPart& part);

/// Zeroes what was never written, so that the bytes equal the native file's (promise 4), and gives
/// the file its size.
Result<void> complete_bytes(StagedPart& part);

/// H5Fflush: the part's current bytes survive the death of the process.
Result<void> publish_provisionally(StagedPart& part);

/// The close of the file.
Result<void> publish(StagedPart& part);

/// A published part's locks are given back before its file is closed.
void unlock_published(const StagedPart& part);

}  // namespace mcr::vol
