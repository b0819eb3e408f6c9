// SPDX-License-Identifier: BSD-3-Clause
// Finds native files that neither a container nor a note describes. They come from a program that ran without
// mcr, or that could not write to mcr/. If that program died in the middle of a step, ranks open different steps.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "restart/sets/known_generations.hpp"

namespace mcr::restart {

/// A file of a set, as it is being opened.
struct OpenedFile {
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;  ///< of the set
  std::string path;
};

/// Returns the path of the next rank's file if it is a plain file that is newer than this rank's, and that neither
/// `present` nor a note describes; else "". The next rank is the first one after this rank that has a file; after
/// the last rank comes rank 0. Of the ranks that open an older stub, one then comes before such a file, so each
/// rank looks at one other file only. If `opening_ranks` (those that open files of the set) are fewer than the
/// set's, the last of them also looks at rank 0. With {part} in the masked name, the file with the next number takes the place of
/// the next rank's file. `container_dir`: see note_about(); `owner` owns this rank's file.
std::string newer_native_file(const OpenedFile& own, std::uint32_t opening_ranks,
                              const std::string& masked_name, uid_t owner,
                              const std::optional<std::string>& container_dir,
                              const PresentNames& present);

}  // namespace mcr::restart
