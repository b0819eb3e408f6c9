// SPDX-License-Identifier: BSD-3-Clause
// What containers say of the sets that they hold: the same for an open, for the leader and for the
// commands.
#pragma once

#include <string>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/index.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/generations.hpp"

namespace mcr::restart {

/// What one container says of one set: all that it says, or of a bundle what it says of one of its sets.
struct SetShare {
  SetIdentity set;
  std::vector<const PartRecord*> parts;  ///< valid as long as the container's reader
  bool is_bundled = false;
};
/// One or more. An error where the tables cannot be read.
Result<std::vector<SetShare>> shares_of(ContainerReader& reader);

/// Adds the ranks for which the share accounts. A native member counts as written, whether its file is
/// still there or not: a set that has lost one is damaged.
void account_for(Account& account, const SetShare& share);

/// Of two shares of one set: when it was begun, as far as that orders sets; 0: nothing is known yet.
std::uint64_t earlier_order(std::uint64_t order_ns, const SetIdentity& set);

/// Generations whose containers lie at `place` and have the masked name of its prefix there; only that of
/// the prefix itself where `own_only`. Paths of members have `components` components.
std::vector<Generation> stored_generations(const ContainerPlace& place, std::size_t components,
                                           bool own_only);

}  // namespace mcr::restart
