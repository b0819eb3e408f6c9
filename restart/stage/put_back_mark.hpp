// SPDX-License-Identifier: BSD-3-Clause
// The mark at the end of a stub whose part is being put back as a plain file. A process that has
// the stub open finds the plain file by this mark. docs/format.md, "Stub".
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

/// Layout: the word "mcr-back", device and inode (8 bytes each, little-endian), the XXH3-64 of
/// these.
inline constexpr std::size_t put_back_mark_bytes = 32;

/// True if marks in `stub` are believed: this user owns it, and no other user may write to it.
bool may_be_marked(const File& stub);

struct PutBackMark {
  std::uint64_t stub_bytes = 0;  ///< with the mark
  struct timespec accessed {};   ///< the stub's times before it was marked
  struct timespec modified {};
};
/// Appends to the part's stub the identity of the plain file that takes its place; an older mark is
/// replaced. Sets the stub's times so that the next read changes the access time. ESTALE: the file
/// is not that part's stub any more.
Result<PutBackMark> mark_put_back(const File& stub, const PartId& part, FileIdentity native);
/// Removes the mark, if nothing was written since. Restores the stub's times: they say again when
/// the stub was written, and whether it was read since.
Result<void> unmark_put_back(const File& stub, const PutBackMark& mark);
/// Returns the file that the mark in `stub` names; nothing if there is no mark, or the mark is not
/// believed.
std::optional<FileIdentity> put_back_as(const File& stub);
/// Opens, for reading and writing, the plain file that has taken the stub's place. Finds it under
/// any name in the directory where the leader put it back. Returns nothing if the leader has not
/// exchanged the names of stub and plain file yet.
std::optional<File> find_put_back(const File& stub);

}  // namespace mcr::restart
