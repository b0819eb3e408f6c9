// SPDX-License-Identifier: BSD-3-Clause
// Tells a container that was written where it lies from a copy, which the user may have made of another user's container.
// docs/design/trust-boundaries.md, "A container that the user has copied".
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "restart/base/file.hpp"
#include "restart/format/user_block.hpp"

namespace mcr::restart {

/// Where a container's file comes from.
struct FileOrigin {
  /// The file is certainly not the one into which the container was written. A container of a version without marks
  /// counts as a copy. False if the file system records no birth times: some of these do not keep inode numbers either.
  bool is_copy = false;
  std::uint64_t born_ns = 0;   ///< birth time of the file; 0: not recorded
  std::uint64_t since_ns = 0;  ///< FileMark::since_ns, if this is no copy; 0: not known
};

/// Writes the file's mark into its user block, which must be there. Call it for each file that gets a container's name.
/// `since_ns`: FileMark::since_ns; 0: nothing is known about the directory, and the file counts as its first container. Returns
/// the FileMark::since_ns that was written.
Result<std::uint64_t> mark_own_file(const File& container, std::uint64_t since_ns);

/// `status` is that of the file, and `head` its first bytes.
FileOrigin origin_of(ByteSpan head, const File& container, const struct stat& status);

/// Corrects the origin of a file that counts as made by `author` (Beside::author). If another user owns the file, `author` has moved it
/// there or linked it, so it is a copy, and its change time tells since when. Root's files count as the author's own. So do files whose
/// author is not known: in a directory of several users, each of these users may replace them.
FileOrigin origin_by(FileOrigin origin, const struct stat& file, uid_t author);

/// Returns the same for the file with this name in the directory. Follows no link. ENOENT: there is none; EPERM: it is neither this
/// user's nor root's.
Result<FileOrigin> origin_of(const File& directory, const std::string& name);

/// Returns since when mcr has written containers into the directory, as one of this user's or root's tells it; 0: not known. Reads the
/// beginning of at most 1,024 of these users' containers, those first that were changed first, until one is an original.
std::uint64_t written_since(const File& directory);

}  // namespace mcr::restart
