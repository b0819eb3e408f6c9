// SPDX-License-Identifier: BSD-3-Clause
// The mark at the end of a stub whose part is being put back as a plain file: a process that has the stub
// open finds the plain file by it. docs/format.md, "Stub".
#pragma once

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

/// Appends to the part's stub the identity of the plain file that takes the stub's place; an older mark
/// is replaced. A process that has the stub open, to replace it or to write into it, finds the plain
/// file by this mark. Returns the stub's size with the mark. ESTALE: the file is not that part's stub
/// any more.
Result<std::uint64_t> mark_put_back(const File& stub, const PartId& part, FileIdentity native);
/// Removes the mark, if nothing was written since.
Result<void> unmark_put_back(const File& stub, std::uint64_t marked_size);
/// Returns the file that the mark names; nothing if there is no mark.
std::optional<FileIdentity> put_back_as(const File& stub);
/// Opens the plain file that has taken the stub's place for reading and writing, if it lies at that
/// name.
std::optional<File> open_put_back(const File& stub, int directory, const std::string& name);
/// Opens that plain file under whatever name it has in the directory in which the leader put it back.
/// Nothing if the stub is another user's, or still lies where a program may open it.
std::optional<File> find_put_back(const File& stub);

}  // namespace mcr::restart
