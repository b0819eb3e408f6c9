// SPDX-License-Identifier: BSD-3-Clause
// The mark at the end of a stub whose part is being put back as a plain file: a process that has the stub
// open finds the plain file by it. docs/format.md, "Stub".
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::restart {

/// Layout: the word "mcr-back", device and inode (8 bytes each, little-endian), the XXH3-64 of these.
inline constexpr std::size_t put_back_mark_bytes = 32;

/// True if marks in that stub are believed: it is this user's, and no other user may write to it.
bool may_be_marked(const File& stub);

struct PutBackMark {
  std::uint64_t stub_bytes = 0;  ///< with the mark
  struct timespec accessed {};   ///< the stub's times before it was marked
  struct timespec modified {};
};
/// Appends to the part's stub the identity of the plain file that takes its place; replaces an older such
/// mark. A process that has the stub open, to replace it or to write into it, finds the plain file by this
/// mark. Sets the stub's times so that the next read shows. ESTALE: it is not that part's stub any more.
Result<PutBackMark> mark_put_back(const File& stub, const PartId& part, FileIdentity native);
/// Removes the mark, if nothing was written since. The stub's times say again when it was written, and
/// whether it was read since.
Result<void> unmark_put_back(const File& stub, const PutBackMark& mark);
/// Returns the file that such a mark names; nothing if there is no mark, or it is not believed.
std::optional<FileIdentity> put_back_as(const File& stub);
/// Opens, for reading and writing, the plain file that has taken the place of the stub, under whatever
/// name it has in the directory in which the leader put it back. Nothing before the leader has exchanged
/// the two files' names.
std::optional<File> find_put_back(const File& stub);

}  // namespace mcr::restart
