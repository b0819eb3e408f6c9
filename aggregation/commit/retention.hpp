// SPDX-License-Identifier: BSD-3-Clause
// Which sets nobody needs any more, and their removal.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "aggregation/commit/set_files.hpp"
#include "restart/base/file.hpp"
#include "restart/sets/stub_links.hpp"

namespace mcr::aggregation {

/// Which whole sets replace others; each of `sets`, which must outlive this, is looked at once.
class Replacements {
 public:
  explicit Replacements(const std::vector<StoredSet>& sets);
  /// The newest whole set that is newer and replaces this one: of the same owner and masked name or, where
  /// nothing lies at any of its paths any more and `of_same_pattern`, of the same pattern (step00010 and
  /// step00020). nullptr: there is none, and the set must stay.
  [[nodiscard]] const StoredSet* of(const StoredSet& set, bool of_same_pattern) const;

 private:
  using Newest =
      std::map<std::pair<std::string, uid_t>, const StoredSet*>;  ///< whole; by name, owner
  Newest newest_of_name_;                                         ///< by masked name
  Newest newest_of_pattern_;                                      ///< by pattern_of that
};

/// Sets that the program has given up for certain, each with the set that replaces it: every part's
/// stub is known to have been deleted or overwritten under all its names (restart/sets/stub_links).
struct GivenUp {
  const StoredSet* set;
  const StoredSet* replacement;
};
std::vector<GivenUp> given_up(const std::vector<StoredSet>& sets, const restart::StubLinks& links);

/// Less those of bundles that hold a set which stays: a bundle goes with the last of its sets.
std::vector<GivenUp> without_shared_containers(std::vector<GivenUp> orders,
                                               const std::vector<StoredSet>& sets);

/// Sets that may go as far as a look at every file below their base can tell: no stub there names a
/// part of theirs, none is known to be elsewhere, and a newer whole set of the same masked name
/// exists. For `mcr gc` and not for a leader. Where something could not be looked at, nothing may
/// go.
Result<std::vector<GivenUp>> superseded(const std::vector<StoredSet>& sets);

/// Removes the set's containers, then our links to its stubs: the very files that were read, in the
/// very directory; an error (EPERM) where others lie there by now. A crash in between leaves a set of
/// which parts are missing, which the next call finds again. The caller has seen to it that its
/// replacement is durable.
Result<void> remove_set(const GivenUp& order);

}  // namespace mcr::aggregation
