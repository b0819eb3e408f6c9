// SPDX-License-Identifier: BSD-3-Clause
// Files of a set that lie at their paths natively (spilled, or never captured). When a newer
// writing replaces such a file, its set may still need it (docs/design/sets.md). So our directory
// holds:
//
//   <directory of containers>/set-natives/<inode>.stub   a note: the stub that a native file cannot
//                                                         hold itself; its time is that of the
//                                                         file, or 0 while the file is being
//                                                         written
//   <directory of containers>/set-natives/<inode>        the file, kept aside by a second name
//
// The note is made before the file gets its path, so that an opener never takes a file of one set
// for a file of another. The note is believed only while the file is unchanged since its close.
// When a newer set is whole, note and kept file are removed (aggregation/commit/collection).
#pragma once

#include <sys/stat.h>

#include <functional>
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

/// The name of a file that is kept aside, and of its note without the ending.
std::string aside_name(std::uint64_t inode);

/// Records that the file `inode`, which lies or will lie at stub.path in `directory`, is the part
/// that `stub` names. `below` leads from `directory` to the directory of containers.
Result<void> note_native(const File& directory, const std::string& below, const Stub& stub,
                         ino_t inode);
/// The same in the directory of containers that belongs to the stub's first masked name. Returns that directory's
/// path.
Result<std::string> note_native(const File& directory, const Stub& stub, ino_t inode);
/// Removes the note about a file that was replaced. The caller has the file open, so that no other
/// file has got its inode number.
void remove_note(const File& directory, const std::string& below, ino_t inode);
/// Completes the note: the file was closed with this `status`. Changes nothing if the file at the note's
/// name is no note about `part`: another user may have moved a file of this user's there.
void complete_note(const std::string& containers, const PartId& part, const struct stat& status);
/// Makes the note unfinished again, because the file is being written again. Changes nothing where
/// complete_note() would change nothing.
void make_note_unfinished(const std::string& containers, const PartId& part,
                          const struct stat& status);
/// Calls `look` for each note of this user's in the directory of containers.
void for_each_note(const std::string& containers, const std::function<void(const Stub&)>& look);

struct NativeNote {
  std::string containers;  ///< the directory in which it was found
  Stub stub;
  bool is_complete = false;  ///< the file was closed
  std::string below;  ///< path from the file's directory to `containers`; set by find_native_note()
};
/// Returns the note about the file at `path` in a directory of containers, if the owner of the
/// file, or root, made it.
std::optional<NativeNote> native_note_in(const std::string& containers, const std::string& path,
                                         const struct stat& status);
/// The same if the directory of containers is not known: looks beside the file, and beside each
/// directory above it that may be a rank's. `directory` is that of the file, and `container_dir`
/// the setting; the default directory is looked at, too, because the file may be older than the setting.
std::optional<NativeNote> find_native_note(const File& directory, const std::string& path,
                                           std::string_view container_dir,
                                           const struct stat& status);

/// Returns the note about the native file at `path` that a program with this value of container_dir= finds; nothing
/// without one.
std::optional<NativeNote> note_about(const std::string& path, const struct stat& status,
                                     const std::optional<std::string>& container_dir);

/// Gives the file `name` in `directory` a second name, so that it outlives its replacement there.
/// If the file system has no hard links, moves it.
Result<void> keep_aside(const NativeNote& note, const File& directory, const std::string& name,
                        const struct stat& status);
/// True if a container lists the native file with this stub, or will list it. Only the leader of a
/// stage lists files, so it lists none that was created natively.
bool may_be_listed(const Stub& stub);
/// Keeps the file at `path` in its `directory` aside before it is replaced. Does nothing if it is
/// no native file of a set, if its writer has not closed it, or if no container will list it: a
/// restart gives a replaced file only if a container lists it.
Result<void> keep_member_aside(const File& directory, const std::string& path,
                               std::string_view container_dir);
/// True if the file has exactly two names, one of them in set-natives/.
bool is_kept_aside(const NativeNote& note, const File& directory, const struct stat& status);

/// Returns the present path of the set's native file: `path`, or its second name; empty if it is
/// gone. The file must belong to `owner`, the owner of the container that lists it.
std::string place_of_native(const std::string& containers, const NativeMember& native,
                            const std::string& path, uid_t owner);
/// Returns the bytes of the file, which was opened at `place`, which place_of_native() returned; ESTALE if it is
/// another file by now. The source has a descriptor of its own.
Result<std::unique_ptr<PartSource>> native_source(const File& file, const std::string& place,
                                                  uid_t owner, const NativeMember& native);

}  // namespace mcr::restart
