// SPDX-License-Identifier: BSD-3-Clause
// From the stage to a native file: what StagedFile::spill copies with, and to where.
#pragma once

#include <string>
#include <utility>

#include "restart/base/file.hpp"
#include "restart/format/part_source.hpp"

namespace mcr::vol {

/// [begin, end) of one file to the same place in another, with a small buffer.
Result<void> copy_bytes(const restart::File& from, const restart::File& to, std::uint64_t begin,
                        std::uint64_t end);

/// All of `source` to the beginning of `to`.
Result<void> copy_source(restart::PartSource& source, const restart::File& to);

/// A new file in `directory`, to be renamed to its own name there, and the name that it has until
/// then.
Result<std::pair<restart::File, std::string>> temporary_in(const restart::File& directory,
                                                           const std::string& word);

/// copy_attributes() for a file that goes to its path whatever the file system refuses, and says
/// what was lost.
void keep_attributes(const restart::File& old, const restart::File& now);

}  // namespace mcr::vol
