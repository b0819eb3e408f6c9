// SPDX-License-Identifier: BSD-3-Clause
// The directory of containers as a place for this user's own files: containers, notes, links,
// decisions, requests. All writers open it here, so that no file is put where another user could
// remove or replace it (restart/base/trust).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "restart/base/closed_directories.hpp"
#include "restart/base/file.hpp"

namespace mcr::restart {

/// Opens the directory. ENOENT: the directory does not exist. EPERM: it may not be used; the
/// message says why and what to do. A symbolic link of this user's or root's in place of the directory is
/// followed: old containers may have been moved to another file system.
Result<File> open_own_containers(const std::string& directory);
/// The same for writing. EPERM also if a symbolic link lies in place of the directory.
Result<File> open_own_containers_to_write(const std::string& directory);
/// The same, but makes the directory (not those above it) if it is missing. The new directory is no
/// more open than the one above it. An existing directory of this user that is more open loses
/// permissions. EPERM also if a symbolic link lies in place of the directory.
Result<File> make_own_containers(const std::string& directory);
/// The same; a new directory keeps out whom `kept_out_of` returns for the directory above, from the beginning. So no
/// other process finds it open.
using KeptOutOf = std::function<KeptOut(const struct stat& above)>;
Result<File> make_own_containers(const std::string& directory, const KeptOutOf& kept_out_of);
/// The same for the path `below`, which may begin with "..", from an open directory. The path of
/// `directory` is not used, because it may lead to another user's directory by now.
Result<File> open_own_containers(const File& directory, const std::string& below);
Result<File> open_own_containers_to_write(const File& directory, const std::string& below);
/// Makes missing directories on the way, too.
Result<File> make_own_containers(const File& directory, const std::string& below);
/// The same; a new directory is as open to readers as the one above it, whatever the umask.
struct MadeContainers {
  File directory;
  bool is_new = false;
};
Result<MadeContainers> make_open_containers(const File& directory, const std::string& name,
                                            const KeptOutOf& kept_out_of = {});

/// Makes a directory in a directory of containers, such as set-natives/, in the same way.
Result<File> make_in_own_containers(const File& containers, const std::string& name);
/// The same, but only the owner may enter the new directory.
Result<File> make_closed_in_own_containers(const File& containers, const std::string& name);

/// Returns why no container of files in the directory `files` may be put into the directory `container_dir` of `base`: a
/// symbolic link lies in its place or on the way from `base`, this user may not write to it, other users could remove or
/// replace the container, or close_to() would refuse it. Returns nothing if containers may be put there, if the directory
/// does not exist, or if neither can be determined.
std::optional<std::string> refusal_of_containers(const std::string& base,
                                                 std::string_view container_dir, const File& files);

/// Closes a directory of containers to the users whom the files' directories keep out: takes its write bits, or sets
/// its sticky bit. A user who may write to a directory could not only remove files from it, but also move it into a closed
/// directory of his own. EPERM if the directory is more open and not empty, because users may have put files of this user's
/// into it, which would then look like containers that he made; if it belongs to another user; or if it may not be changed
/// (may_be_changed()).
Result<void> close_to(const KeptOut& kept, const File& containers, const std::string& path);

}  // namespace mcr::restart
