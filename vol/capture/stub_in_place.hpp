// SPDX-License-Identifier: BSD-3-Clause
// Writes stubs into existing files instead of replacing the files, as native HDF5 writes into them: where the
// program has moved the file, where the file has other names, and where storage has no room for a new file.
#pragma once

#include "vol/capture/staged_file.hpp"

namespace mcr::vol {

/// True if the file is the stub of an older part and has other names than the path and our link (gc=on).
bool has_other_names(const StagedPart& part);

/// Native HDF5 would have written into that very file: the program renamed or removed it while it wrote, or the
/// file has other names, which show the new data too. If the file has no name left, the data is dropped.
Result<void> put_stub_into_old(StagedPart& part);

/// Writes the stub over the content of the old file, which needs no room in most file systems. Call it
/// while restart::RefusedStubs is locked and the journal names the old file: if this process dies meanwhile,
/// the leader replaces the half-written file. Returns false and leaves the file's content if storage refuses
/// this write too, or if the old content may still be needed: under another name of the file, or by a set of
/// which the file is a native member.
bool write_stub_over_old(StagedPart& part);

}  // namespace mcr::vol
