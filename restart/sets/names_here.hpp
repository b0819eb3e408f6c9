// SPDX-License-Identifier: BSD-3-Clause
// The present names of a set's files, and the place of the set's containers. The program may have
// renamed the files, or moved the whole tree, since the stub was written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "restart/format/stub.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/generations.hpp"
#include "restart/sets/look.hpp"

namespace mcr::restart {

struct NamesHere {
  ContainerPlace place;
  std::size_t components = 1;  ///< of a path, counted from its end, below the shared directory
  std::size_t named_components =
      1;                    ///< likewise, below the directory in which that of the containers lies
  std::string tail;         ///< the opened path's last `components`
  std::string base;         ///< the path before `tail`
  bool renamed = false;     ///< the files do not have the names under which they were written
  std::string masked_name;  ///< the mask of the present names
};

/// Finds the present names. `path` is the stub's path, links resolved. If containers at the found
/// place hold the stub's generation, `stored` gets it. Returns nothing if the names of the other
/// ranks' files cannot be determined.
std::optional<NamesHere> find_names(const Stub& stub, const std::string& path,
                                    const std::string& allow, std::vector<Generation>& stored,
                                    Look& look);

/// Finds containers of the stub's generation in the directories above the stub (places_above()). `stored`
/// gets the generation; it is empty if there is no such place.
std::optional<ContainerPlace> find_place_above(const Stub& stub, const std::string& path,
                                               std::vector<Generation>& stored, Look& look);

/// Returns how many components at the end of a path name a part of the stub's set under
/// `masked_name`.
std::size_t components_of(const Stub& stub, const std::string& masked_name);

}  // namespace mcr::restart
