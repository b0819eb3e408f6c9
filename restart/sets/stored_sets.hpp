// SPDX-License-Identifier: BSD-3-Clause
// Reads what containers say about the sets in them. Used by opens, the leader and the commands.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/index.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/generations.hpp"
#include "restart/sets/look.hpp"

namespace mcr::restart {

/// What one container says about one set. A container of one set has one share; a bundle has one
/// for each of its sets.
struct SetShare {
  SetIdentity set;
  std::vector<const PartRecord*> parts;  ///< valid as long as the container's reader
  bool is_bundled = false;
};
/// Returns one share or more. An error if the tables cannot be read.
Result<std::vector<SetShare>> shares_of(ContainerReader& reader);

/// Adds the ranks for which the share accounts. A native member counts as written even if its file
/// is gone: the set is then damaged, not incomplete.
void account_for(Account& account, const SetShare& share);

/// Adds what `more`, another account of the set, says of ranks without a part and against the set. Its parts are not added.
void add_statements(Account& account, const Account& more);

/// Who made a container, and the latest time that it can tell.
struct Maker {
  uid_t author = unknown_user;
  /// Where other users may add files, a file of this user's may have any content. Then this is the time at
  /// which the file system last changed the file, which nobody can set into the future.
  std::uint64_t latest_ns = 0;

  /// Returns the maker with the time limited to `limit_ns`, which is LateCopies::latest_ns() of the container; 0: it is no late copy, and
  /// nothing is limited. Sets that are written later are then newer than the copy's.
  [[nodiscard]] Maker of_copy(std::uint64_t limit_ns) const {
    return {author, limit_ns == 0 ? latest_ns : std::min(latest_ns, limit_ns)};
  }
};
/// Returns these of a container in `beside`'s inner directory.
Maker maker_of(const Beside& beside, const struct stat& container);

/// Returns the time of the newest set in a container.
std::uint64_t newest_order(const SetIdentity& set);

/// Adds what a container says about the time that orders its set, `order_ns` (0: nothing yet). The
/// earliest time counts. But if this user or root has made a container of the set, only these users'
/// containers count (`has_own_date`): another user's container must not order this user's sets.
void add_order(std::uint64_t& order_ns, bool& has_own_date, const SetIdentity& set,
               const Maker& maker);

/// Returns the generations whose containers lie at `place` under the masked name of its prefix;
/// only the generation of the prefix itself if `own_only`. Paths of members have `components`
/// components. The result is valid as long as the look.
const std::vector<Generation>& stored_generations(const ContainerPlace& place,
                                                  std::size_t components, bool own_only,
                                                  Look& look);

}  // namespace mcr::restart
