// SPDX-License-Identifier: BSD-3-Clause
// For `mcr recover`: finds stubs that no longer lead to their containers, because the
// stubs or the containers were moved.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "aggregation/mcr/files_below.hpp"
#include "codecs/base/result.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::aggregation {

/// A stub, and the directory that allow= must name before the stub can be opened.
struct NeedsAllow {
  std::string path;
  std::string allow;
};

struct MovedStubs {
  /// Paths of reconnected stubs; in a dry run, of stubs that would be reconnected.
  std::vector<std::string> reconnected;
  std::vector<std::string> failures;  ///< stubs that could not be written, and why
  /// Those of `reconnected` that open only with the setting allow=.
  std::vector<NeedsAllow> needing_allow;
  NotLookedAt left_out;
  /// Parts with a stub below the directory, and the user that made the stub.
  std::set<std::pair<restart::PartId, uid_t>> present;
  /// One stub of each part that another user than its owner may have put where it lies.
  std::map<restart::PartId, std::string> doubtful;
  /// Of these, the stubs in directories from which only their owners and the directory's owner can remove them (sticky bit): part,
  /// directory and owner.
  std::set<std::tuple<restart::PartId, restart::FileIdentity, uid_t>> in_sticky;
  std::size_t containers = 0;  ///< below the directory
  restart::FileIdentity top;   ///< identity of the directory

  /// True if there is a stub of the part that `owner` trusts; nullopt: any user's stub counts.
  [[nodiscard]] bool has_stub_of(const restart::PartId& part, std::optional<uid_t> owner) const;
};

/// Looks at every file below `directory`. If a stub leads to no container, and a container below
/// `directory` has the stub's part, rewrites the stub so that it leads to that container. EPERM: the directory is not `named` any more,
/// if that is known.
Result<MovedStubs> reconnect_moved_stubs(const std::string& directory,
                                         const std::optional<restart::FileIdentity>& named,
                                         bool dry_run);

}  // namespace mcr::aggregation
