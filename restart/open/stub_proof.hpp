// SPDX-License-Identifier: BSD-3-Clause
// Whether a stub that leads to containers elsewhere may be believed. A user may have copied the stub from another user, or a note about a
// native file: she owns it then, but its text may name any run of hers. Its author knows ids of parts only if he may read a stub of that
// run. So such a stub needs its own part (docs/design/trust-boundaries.md, "The directory of containers").
#pragma once

#include <string>
#include <vector>

#include "restart/format/stub.hpp"
#include "restart/sets/generations.hpp"
#include "restart/sets/look.hpp"

namespace mcr::restart {

/// True if the stub was moved or copied to another directory below `above`: its text names other directories there. Only with
/// container_dir=../NAME, where the containers of several runs lie in `above`.
bool was_moved_below(const std::string& above, const Stub& stub, const std::string& path);

/// True if the directory `containers` lies in no directory above the stub's path, and is not `own`, the directory
/// to which the program's own container_dir= leads for the files of all ranks: the user's setting names that one. True also for a stub that
/// was_moved_below() the directory above.
bool lies_beside(const std::string& containers, const Stub& stub, const std::string& path,
                 const std::string& own);

/// True if one of the generations has the stub's part, or if the part is in this user's stage. Both prove that this user's program has
/// written the part, but not that it has written the rest of the stub's text.
bool has_part(const std::vector<Generation>& generations, const Stub& stub);

/// True if the stub's part is in another container of the generation `name`. With several nodes, a set's containers may lie in several
/// places. `path`, `allow`: as in container_places().
bool is_part_of_generation(const Stub& stub, const std::string& path, const std::string& allow,
                           const GenerationName& name, Look& look);

}  // namespace mcr::restart
