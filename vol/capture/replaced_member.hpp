// SPDX-License-Identifier: BSD-3-Clause
// Native files that belong to sets: what is noted of one that this process writes, and what becomes
// of one that it replaces (restart/sets/native_members).
#pragma once

#include <string>

#include "vol/capture/backend.hpp"
#include "vol/capture/staged_file.hpp"

namespace mcr::vol {

/// Says whose file the inode will be. False where that could not be said: then it is any file.
bool note_native(const StagedPart& part, std::uint64_t inode);

/// Keeps what lies at `path` in its `directory` where a newer writing of its set may still need it: a
/// native file of a set. Nothing where it is none.
void keep_replaced_member(const restart::File& directory, const std::string& path,
                          std::string_view container_dir);

/// A file that is created natively where a part of a set lies: the new one takes its path at once,
/// as an empty file of its own, with a note that says to which writing it belongs. Nothing where no
/// part of a set lies there, or nobody knows the launch.
struct NativeReplacement {
  restart::File file;
  std::string containers;  ///< where the note lies, to be completed at the file's close
};
Result<std::optional<NativeReplacement>> replace_member_natively(const std::string& name);

}  // namespace mcr::vol
