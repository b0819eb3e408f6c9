// SPDX-License-Identifier: BSD-3-Clause
// Helpers of StagedFile::spill: copy from the stage, and make the native file.
#pragma once

#include <string>
#include <utility>

#include "restart/base/attributes.hpp"
#include "restart/base/file.hpp"
#include "restart/format/part_source.hpp"

namespace mcr::vol {

/// Copies [begin, end) to the same place in another file, through a small buffer.
Result<void> copy_bytes(const restart::File& from, const restart::File& to, std::uint64_t begin,
                        std::uint64_t end);

/// Copies all of `source` to the beginning of `to`.
Result<void> copy_source(restart::PartSource& source, const restart::File& to);

/// Makes a new file in `directory`, which the caller later renames within that directory. Returns
/// the file and its temporary name.
Result<std::pair<restart::File, std::string>> temporary_in(const restart::File& directory,
                                                           const std::string& word);

/// Calls copy_attributes(), but only warns if the file system refuses something, because the file
/// gets its path in any case.
void keep_attributes(const restart::File& old, const restart::File& now);
/// The same with other access rights than those of `old`.
void keep_attributes(const restart::File& old, const restart::File& now,
                     const restart::Access& access);

}  // namespace mcr::vol
