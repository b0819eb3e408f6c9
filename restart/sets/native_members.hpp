// SPDX-License-Identifier: BSD-3-Clause
// Files of a set that lie at their paths natively (spilled, or never captured), and what the set
// needs of them when a newer writing replaces them (docs/design/sets.md):
//
//   <directory of containers>/set-natives/<inode>.stub   a note: the stub that such a file cannot
//                                                         hold itself; its time is the file's, 0 while
//                                                         that is being written
//   <directory of containers>/set-natives/<inode>        the file, kept aside by a second name
//
// The note is made before the file comes to its path, so that an opener never takes a file of one
// set for one of another. It is believed while the file is as it was closed. A newer whole set takes
// both away (aggregation/commit/collection).
#pragma once

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "restart/base/file.hpp"
#include "restart/format/index.hpp"
#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

inline constexpr std::string_view native_members_directory = "set-natives";
inline constexpr std::string_view native_note_ending = ".stub";

/// Says which part of which set the file is that lies, or is about to lie, at stub.path in `directory`;
/// `below` leads from there to the directory of containers.
Result<void> note_native(const File& directory, const std::string& below, const Stub& stub,
                         ino_t inode);
/// The file was closed as `status` says.
void complete_note(const std::string& containers, const struct stat& status);

struct NativeNote {
  std::string containers;  ///< the directory in which it was found
  Stub stub;
  bool is_complete = false;  ///< the file was closed
  std::string below;         ///< of find_native_note(): from the file's directory to `containers`
};
/// The note about the file at `path`, looked for in a directory of containers: one that the owner of
/// the file, or root, has made.
std::optional<NativeNote> native_note_in(const std::string& containers, const std::string& path,
                                         const struct stat& status);
/// The same where the directory is not known: beside the file, and beside the directories above it
/// that may be a rank's. `directory`: the file's own. `container_dir` is the setting.
std::optional<NativeNote> find_native_note(const File& directory, const std::string& path,
                                           std::string_view container_dir,
                                           const struct stat& status);

/// Gives the file `name` in `directory` a second name, so that it outlives what replaces it there;
/// where the file system has no hard links, moves it.
Result<void> keep_aside(const NativeNote& note, const File& directory, const std::string& name,
                        const struct stat& status);
/// The same for whatever lies at `path` in its `directory`, before something takes its place: nothing
/// where that is no native file of a set, or was never closed.
Result<void> keep_member_aside(const File& directory, const std::string& path,
                               std::string_view container_dir);
/// True where the file has exactly two names, and one is ours.
bool is_kept_aside(const NativeNote& note, const File& directory, const struct stat& status);

/// Where the set's native file is now: at `path`, or aside; empty where it is gone. It must belong
/// to `owner`, whose container says that it is the set's.
std::string place_of_native(const std::string& containers, const NativeMember& native,
                            const std::string& path, uid_t owner);
/// Reads it from there; an error where it has gone meanwhile.
Result<std::unique_ptr<PartSource>> open_native_source(const std::string& place, uid_t owner,
                                                       const NativeMember& native);

}  // namespace mcr::restart
