// SPDX-License-Identifier: BSD-3-Clause
// What the files of a set are called now, and where their containers lie: the program may have
// renamed them, or moved the whole tree, since the stub was written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "restart/format/stub.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/generations.hpp"

namespace mcr::restart {

struct NamesHere {
  ContainerPlace place;
  std::size_t components = 1;  ///< of a path, below the directory that all parts share
  std::string tail;            ///< the opened path's last `components`
  std::string base;            ///< what is before them
  bool renamed = false;        ///< other names than those under which the files were written
  std::string masked_name;     ///< of the present names
};

/// `path` is the stub's, links resolved. `stored` gets the stub's own generation as the containers
/// there tell it, if any do. Nothing where no more is known of the names than the stub says.
std::optional<NamesHere> find_names(const Stub& stub, const std::string& path,
                                    const std::string& allow, std::vector<Generation>& stored);

/// How many last components of a path name a part of the stub's set under `masked_name`.
std::size_t components_of(const Stub& stub, const std::string& masked_name);

}  // namespace mcr::restart
