// SPDX-License-Identifier: BSD-3-Clause
// Stubs as files: looking for one, and what one says of a part.
#pragma once

#include <optional>
#include <string>

#include "restart/base/file.hpp"
#include "restart/format/journal.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

/// Begins like a stub, whole or not; false also where it cannot be read.
bool is_stub_file(const File& file);

/// Cause::damaged where it is no stub or was altered, Cause::unsupported for a newer version.
Result<Stub> read_stub_file(const File& file);

/// Writes behind the part's stub which plain file takes its place, over an older such mark: whoever has the
/// stub open, to replace it or to write into it, finds that file by this. Answers the file's size then.
/// ESTALE: it is not that part's stub any more.
Result<std::uint64_t> mark_put_back(const File& stub, const PartId& part, FileIdentity native);
/// Takes the mark back, where nothing was written since.
Result<void> unmark_put_back(const File& stub, std::uint64_t marked_size);
/// What such a mark says; nothing where there is none.
std::optional<FileIdentity> put_back_as(const File& stub);
/// The plain file that has taken the stub's place, for reading and writing, if it lies at that name.
std::optional<File> open_put_back(const File& stub, int directory, const std::string& name);

/// Opens the directory in which the part was begun. ESTALE: another one lies at its path now.
Result<File> open_begun_in(const PartBegin& begin, int flags);

/// The stub that leads to a part. `container_directory`: the setting container_dir of its writer.
Stub stub_of(const PartBegin& begin, std::string container_directory, std::string launch_directory);

}  // namespace mcr::restart
