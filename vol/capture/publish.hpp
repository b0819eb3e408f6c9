// SPDX-License-Identifier: BSD-3-Clause
// Publish: the moment at which a closed part becomes visible to the leader. After a publish, the
// death of any process loses nothing of the part (promise 3). A publish calls no fsync, lists no
// directory and does not read the file.
#pragma once

#include <string>

#include "vol/capture/staged_file.hpp"

namespace mcr::vol {

/// Returns the directory of the part's containers; empty if it is not known.
std::string containers_of(const StagedPart& part);
/// Removes our link to this file as the stub of part `of` (restart/sets/stub_links.hpp), wherever the containers of this part's
/// path may be.
void unlink_stub(const StagedPart& part, const restart::PartId& of, const struct stat& status);

/// Returns the stub that names the part.
restart::Stub stub_of(const StagedPart& part);

/// Zeroes all bytes that were never written, and sets the file's size. Then the bytes equal those
/// of the native file (promise 4).
Result<void> complete_bytes(StagedPart& part);

/// H5Fflush: from now on the part's present bytes survive the death of the process.
Result<void> publish_provisionally(StagedPart& part);

/// H5Fclose: publishes the part.
Result<void> publish(StagedPart& part);

/// Releases a published part's locks before its file is closed.
void unlock_published(const StagedPart& part);

}  // namespace mcr::vol
