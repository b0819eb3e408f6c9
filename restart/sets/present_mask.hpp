// SPDX-License-Identifier: BSD-3-Clause
// Finds the mask of renamed files. In a path, a step's number may equal the rank, and then several masks
// fit: s2.2.h5 of rank 2 may be s2.{rank}.h5, s{rank}.2.h5 or s{rank}.{rank}.h5. Under the second and
// third mask, files of other steps would count as other ranks' files of this step.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "restart/format/stub.hpp"
#include "restart/sets/look.hpp"

namespace mcr::restart {

/// Returns the mask of the present name `path` of the stub's file; empty if no mask fits. `written`
/// are the masked names under which the set may have been written, most likely first: one if a
/// container tells it. Of the masks that fit, returns the first of these:
///  1. one under which another file of the same generation lies;
///  2. one under which a file of another generation lies whose own mask is the same;
///  3. the one whose text is most like the masked name at writing.
/// Native files count by their notes in `containers`. `owner` owns the file at `path`.
std::string present_mask(const Stub& stub, const std::string& path,
                         const std::vector<std::string>& written, const std::string& containers,
                         uid_t owner, Look& look);

/// `written_as` is the path of a file when it was written as `written_mask`, and `path` its present path. Returns the
/// mask of the present path: with {part} where the same number stands; of several such places, the one that makes
/// the mask most like `written_mask`. Empty if the number does not stand there.
std::string renamed_part_mask(const std::string& path, const std::string& written_as,
                              const std::string& written_mask);

}  // namespace mcr::restart
