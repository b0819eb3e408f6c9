// SPDX-License-Identifier: BSD-3-Clause
// Counts the files that this process writes natively, by reason. The process records the counts in
// its presence when it ends; the line at the job's end has the sums of a node.
#pragma once

#include <cstdint>

#include "restart/base/file_identity.hpp"
#include "restart/format/native_counts.hpp"

namespace mcr::vol {

/// Counts a file that was created natively, or became native while it was written.
void count_native_file(restart::NativeReason reason);
/// Counts an existing native file that is opened for writing: once, and not if this process
/// created it natively.
void count_written_in_place(restart::FileIdentity file);
/// Remembers that the file was counted when it was created.
void note_native_file(restart::FileIdentity file);
/// Returns the counts since the last call.
restart::NativeCounts take_native_counts();

/// Leaves the counts in the directory that `mcr doctor` names by a variable, if there is one.
void tell_doctor(const restart::CaptureCounts& counts);

}  // namespace mcr::vol
