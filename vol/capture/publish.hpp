// SPDX-License-Identifier: BSD-3-Clause
// Publish: the moment at which a closed part becomes visible to the leader. After it no death of any
// process loses the part (promise 3). It does no fsync, no directory scan and no walk over the file.
#pragma once

#include <string>

#include "vol/capture/staged_file.hpp"

namespace mcr::vol {

/// Returns the directory of the part's containers; empty if it is not known.
std::string containers_of(const StagedPart& part);

/// Returns the stub that names the part.
restart::Stub stub_of(const StagedPart& part);

/// Zeroes all bytes that were never written, so that the bytes equal the native file's (promise 4), and
/// sets the file's size.
Result<void> complete_bytes(StagedPart& part);

/// H5Fflush: makes the part's present bytes survive the death of the process.
Result<void> publish_provisionally(StagedPart& part);

/// H5Fclose: publishes the part.
Result<void> publish(StagedPart& part);

/// Releases a published part's locks before its file is closed.
void unlock_published(const StagedPart& part);

}  // namespace mcr::vol
