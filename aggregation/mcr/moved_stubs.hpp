// SPDX-License-Identifier: BSD-3-Clause
// Stubs that were moved away from their containers, or containers from their stubs, for `mcr recover`.
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
  std::vector<std::string> mended;    ///< paths; of a dry run those that would be
  std::vector<std::string> failures;  ///< what could not be written, and why
  std::vector<std::string> left_out;  ///< directories that were not looked at, and why
  /// Parts of which a stub of that user's lies somewhere below the directory.
  std::set<std::pair<restart::PartId, uid_t>> present;
  std::size_t containers = 0;  ///< below the directory

  /// Whether there is a stub of the part that counts for a set of that user's; nullopt: anybody's does.
  [[nodiscard]] bool has_stub_of(const restart::PartId& part, std::optional<uid_t> owner) const;
};

/// Looks at every file below `directory`. A stub whose part can be read nowhere, although a container
/// below `directory` has it, is written anew, so that it leads to that container.
Result<MovedStubs> mend_moved_stubs(const std::string& directory, bool dry_run);

}  // namespace mcr::aggregation
