// SPDX-License-Identifier: BSD-3-Clause
// Makes the stubs below a directory again that are missing or damaged, for mcr recover DIR.
#pragma once

#include <string>
#include <vector>

#include "aggregation/mcr/moved_stubs.hpp"
#include "codecs/base/result.hpp"

namespace mcr::aggregation {

struct RemadeStub {
  std::string path;
  std::string set;
  /// Another stub of the part, which others may have put where it lies; may be empty.
  std::string copy;
};

/// What was done, or would be done, below a directory.
struct Remaking {
  std::vector<RemadeStub> stubs;
  std::vector<std::string> reconnected;  ///< moved stubs that lead to their containers again
  std::vector<NeedsAllow>
      needing_allow;                  ///< those of `reconnected` that open only with the setting
  std::vector<std::string> kept;      ///< paths of empty files that are younger than their sets
  std::vector<std::string> failures;  ///< paths that cannot be written; the other stubs are written
  bool has_damage = false;            ///< a container cannot be read
};

/// Rewrites stubs that are missing or damaged, from the containers below the directory, and makes moved
/// stubs lead to their containers again. Prints what it does not look at. `dry_run`: changes nothing.
Result<Remaking> remake_stubs(const std::string& directory, bool dry_run);

}  // namespace mcr::aggregation
