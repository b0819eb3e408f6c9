// SPDX-License-Identifier: BSD-3-Clause
// Looks at the file of the next rank. A rank whose own set is whole looks at no other file, so of the ranks that would
// open different steps, at least one notices it here. The next rank is the first one after this rank that has a file;
// after the last rank comes rank 0. With {part} in the masked name, the file with the next number takes the place of the
// next rank's file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "restart/sets/known_generations.hpp"

namespace mcr::restart {

/// A file of a set, as it is being opened.
struct OpenedFile {
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;  ///< of the set
  std::string path;
  /// When the container with its part was made. (The file's own time is later if its stub was copied, touched, or made
  /// again by `mcr recover`.)
  std::uint64_t committed_ns = std::numeric_limits<std::uint64_t>::max();
};

/// Returns the path of the next rank's file if it is a plain file that is newer than this rank's file or its container, and that
/// neither `present` nor a note describes; else "". Such files come from a program that ran without mcr, or that could not write
/// to mcr/. If `opening_ranks` (those that open files of the set) are fewer than the set's, the last of them also looks
/// at rank 0. `container_dir`: see note_about(); `owner` owns this rank's file.
std::string newer_native_file(const OpenedFile& own, std::uint32_t opening_ranks,
                              const std::string& masked_name, uid_t owner,
                              const std::optional<std::string>& container_dir,
                              const PresentNames& present);

/// True if `set` has a file of the next rank, but the stub at that name is of another writing, and not of `own_launch`:
/// the program may have exchanged files, or moved older ones back, and died between two ranks. `owner` as above.
bool shows_another_set(const OpenedFile& own, const std::string& masked_name, uid_t owner,
                       const Generation& set, const std::string& own_launch);

}  // namespace mcr::restart
