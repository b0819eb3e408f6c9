// SPDX-License-Identifier: BSD-3-Clause
// Writes stubs into existing files instead of replacing the files, as native HDF5 writes into them: where the
// program has moved the file, where the file has other names, and where storage has no room for a new file.
#pragma once

#include "vol/capture/staged_file.hpp"

namespace mcr::vol {

/// The program renamed or removed the old file while it wrote. Native HDF5 would have written into
/// that very file, wherever it is now; if the file has no name left, its data would be gone too.
Result<void> put_stub_into_moved(StagedPart& part);

/// True if the old file is the stub of the part that was amended, and has other names than the path and our
/// link (gc=on). With native HDF5 all names would show the new data, so the file must not be replaced.
bool has_other_names(const StagedPart& part);

/// Writes the stub over the content of the old file, which needs no room in most file systems. Call it
/// while restart::RefusedStubs is locked and the journal names the old file: if this process dies meanwhile,
/// the leader replaces the half-written file. Returns false and leaves the file's content if storage refuses this
/// write, too, or if the old content may still be needed. It may be needed under another name of the file (not if
/// has_other_names() is true), and by a set of which the file is a native member.
bool write_stub_over_old(StagedPart& part);

}  // namespace mcr::vol
