// SPDX-License-Identifier: BSD-3-Clause
// Stubs as files: tests whether a file is a stub, reads and writes it.
#pragma once

#include <string>

#include "restart/base/file.hpp"
#include "restart/format/journal.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

/// True if the file begins with the signature of a stub (the rest may be damaged).
Result<bool> begins_as_stub(const File& file);
/// The same; false if the file cannot be read.
bool is_stub_file(const File& file);

/// Reads a stub. Cause::damaged: the file is no stub or was altered. Cause::unsupported: a newer
/// version wrote it.
Result<Stub> read_stub_file(const File& file);

/// Writes the stub at the beginning of the file, and sets the file's access time to before its
/// modification time. Otherwise both times may be equal (one tick of the kernel's clock), and the
/// stub would look as if it had been read, and perhaps copied.
Result<void> write_stub_file(const File& file, const Stub& stub);

/// True if the part was begun in this directory, and not in an earlier one that had its inode number.
bool is_begun_in(const PartBegin& begin, const File& directory);
/// True if the part was begun in this directory or below it, or if the journal does not tell.
bool is_begun_below(const PartBegin& begin, const File& directory);

/// True if the file that is open is the one for which the part was begun, and no copy of it that has come
/// to its path, or to another one. If the file was renamed, this cannot be told.
bool is_begun_file(const PartBegin& begin, const std::string& path, const struct stat& status);

/// Opens the directory in which the part was begun. ESTALE: another directory has its path now.
Result<File> open_begun_in(const PartBegin& begin, int flags);

/// True if the stub is that of the same rank's writing of the same path in this launch, this one or another.
bool is_of_same_path(const Stub& stub, const PartBegin& begin);

/// Returns the stub that leads to a part. `container_directory`: the setting container_dir of its
/// writer.
Stub stub_of(const PartBegin& begin, std::string container_directory, std::string launch_directory);

}  // namespace mcr::restart
