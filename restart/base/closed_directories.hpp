// SPDX-License-Identifier: BSD-3-Clause
// Who is kept out of a file by the directories above it, for a file of ours that stands elsewhere. The
// directories are found from the file's own upwards, each as the ".." of the one below, because a path may
// lead elsewhere by now.
#pragma once

#include <string>

#include "restart/base/attributes.hpp"

namespace mcr::restart {

/// The directory of `path` (O_PATH), if that very file lies there under its name. ESTALE: it does not.
Result<File> open_directory_of(const std::string& path, FileIdentity file);

/// `access` of a file in `directory`, for a file of ours in `base` or below it, where others may come who
/// never come to the first: a program that gives each rank a directory of its own (0700) has closed the
/// files in it. For its owner alone where `base` is not above `directory`.
Access closed_by_directories(Access access, const File& directory, FileIdentity base);

/// Whether some who may write to `base`, and so remove files there, may not write to a directory between
/// it and the files in `directory`.
bool keeps_writers_out(const File& directory, const struct stat& base);

/// Whether `base` is `directory` or lies above it.
bool is_at_or_above(FileIdentity base, const File& directory);

}  // namespace mcr::restart
