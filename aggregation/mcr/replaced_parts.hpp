// SPDX-License-Identifier: BSD-3-Clause
// Which parts `mcr unpack` leaves out, because the same file has a newer content in another container, or is native.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "aggregation/commit/held_containers.hpp"
#include "restart/base/part_id.hpp"
#include "restart/container/container_reader.hpp"

namespace mcr::aggregation {

/// A container that is unpacked.
struct Container {
  std::shared_ptr<restart::ContainerReader> reader;
  std::shared_ptr<const HeldContainers> home;  ///< the directory in which it was opened
  std::set<restart::PartId> without;  ///< parts of the bundle's sets that the user did not name
};
using Containers = std::vector<Container>;

/// Identifies a set. `mcr pack` gives all its containers the same launch, so the container's name
/// is part of the key for these.
using SetKey = std::tuple<std::string, std::string, std::uint64_t, std::string>;
SetKey key_of(const restart::ContainerReader& container, std::size_t part);

/// Leaves a part out of all containers but one (Container::without) if several have it: a copy counts only if no original has the part.
/// Cause::usage if only copies have it, because one of them may be another user's.
Result<void> leave_out_repeated_parts(Containers& containers);

/// Returns the parts that a later part of the same file, or a native member, replaces. If a file was opened again and
/// amended after its set was committed, its new part is in a further container. The part that was
/// committed last counts, whatever the names of the containers. A file becomes native after its parts were written.
Result<std::set<restart::PartId>> replaced_parts(const Containers& containers);

}  // namespace mcr::aggregation
