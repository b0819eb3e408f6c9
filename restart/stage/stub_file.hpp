// SPDX-License-Identifier: BSD-3-Clause
// Stubs as files: whether a file is one, and what it says of a part.
#pragma once

#include <optional>
#include <string>

#include "restart/base/file.hpp"
#include "restart/format/journal.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

/// True if the file begins like a stub, whole or not; false if it cannot be read.
bool is_stub_file(const File& file);

/// Reads a stub. Cause::damaged: it is no stub or was altered. Cause::unsupported: a newer version
/// wrote it.
Result<Stub> read_stub_file(const File& file);

/// Appends to the part's stub the identity of the plain file that takes its place; replaces an older such
/// mark. A process that has the stub open, to replace it or to write into it, finds the plain file by this
/// mark. Returns the stub's size with the mark. ESTALE: it is not that part's stub any more.
Result<std::uint64_t> mark_put_back(const File& stub, const PartId& part, FileIdentity native);
/// Removes the mark, if nothing was written since.
Result<void> unmark_put_back(const File& stub, std::uint64_t marked_size);
/// Returns the file that such a mark names; nothing if there is no mark.
std::optional<FileIdentity> put_back_as(const File& stub);
/// Opens the plain file that has taken the stub's place for reading and writing, if it lies at that
/// name.
std::optional<File> open_put_back(const File& stub, int directory, const std::string& name);

/// Opens the directory in which the part was begun. ESTALE: another directory lies at its path now.
Result<File> open_begun_in(const PartBegin& begin, int flags);

/// Returns the stub that leads to a part. `container_directory`: the setting container_dir of its
/// writer.
Stub stub_of(const PartBegin& begin, std::string container_directory, std::string launch_directory);

}  // namespace mcr::restart
