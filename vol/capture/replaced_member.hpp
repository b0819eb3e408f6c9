// SPDX-License-Identifier: BSD-3-Clause
// Native files that belong to sets. Makes notes about files that this process writes, and keeps
// aside files that it replaces (restart/sets/native_members).
#pragma once

#include <string>

#include "vol/capture/backend.hpp"
#include "vol/capture/staged_file.hpp"

namespace mcr::vol {

/// Notes that the file with this inode will hold the part. Returns false if no note could be made;
/// the file is then not counted as a member of the set.
bool note_native(const StagedPart& part, std::uint64_t inode);

/// Keeps the file at `path` in its `directory` aside, if it is a native file of a set: the set is
/// needed until a newer one is whole.
void keep_replaced_member(const restart::File& directory, const std::string& path,
                          std::string_view container_dir);

/// A file that is created natively at a path where a part of a set lies. The new, empty file gets
/// the path at once, with a note that says to which writing it belongs. replace_member_natively()
/// returns nothing if no part of a set lies there, or the launch is not known.
struct NativeReplacement {
  restart::File file;
  std::string containers;  ///< the directory with the note, which the file's close completes
  restart::PartId part;
};
Result<std::optional<NativeReplacement>> replace_member_natively(const std::string& name);

}  // namespace mcr::vol
