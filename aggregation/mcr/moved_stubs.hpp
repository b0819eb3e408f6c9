// SPDX-License-Identifier: BSD-3-Clause
// For `mcr recover`: stubs that were moved away from their containers, or containers away from
// their stubs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codecs/base/result.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::aggregation {

struct MovedStubs {
  std::vector<std::string> mended;    ///< paths; in a dry run those that would be mended
  std::vector<std::string> failures;  ///< what could not be written, and why
  std::vector<std::string> left_out;  ///< directories that were not looked at, and why
  /// Parts with a stub below the directory, and the user that owns the stub.
  std::set<std::pair<restart::PartId, uid_t>> present;
  std::size_t containers = 0;  ///< below the directory

  /// True if there is a stub of the part that counts for a set of `owner`; nullopt: any user's stub
  /// does.
  [[nodiscard]] bool has_stub_of(const restart::PartId& part, std::optional<uid_t> owner) const;
};

/// Looks at every file below `directory`. Rewrites each stub that leads to no container, if a
/// container below `directory` has its part, so that it leads there.
Result<MovedStubs> mend_moved_stubs(const std::string& directory, bool dry_run);

}  // namespace mcr::aggregation
