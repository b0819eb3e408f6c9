// SPDX-License-Identifier: BSD-3-Clause
// Which sets are no longer needed, and their removal.
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

/// Which whole sets replace others. Looks at each of `sets` once; they must outlive this object.
class Replacements {
 public:
  explicit Replacements(const std::vector<StoredSet>& sets);
  /// Returns the newest whole set that replaces this one: newer, and of the same owner and masked
  /// name. If the set has no file at its paths any more and `of_same_pattern` is true, a newer set
  /// of the same pattern (step00010 and step00020) counts too. nullptr: no set replaces this one,
  /// so it must stay.
  [[nodiscard]] const StoredSet* of(const StoredSet& set, bool of_same_pattern) const;

 private:
  using Newest =
      std::map<std::pair<std::string, uid_t>, const StoredSet*>;  ///< whole; by name, owner
  Newest newest_of_name_;                                         ///< by masked name
  Newest newest_of_pattern_;                                      ///< by pattern_of that
};

/// A set that the program has certainly given up, and the set that replaces it: the stub of every
/// part is known to have been deleted or overwritten under all its names (restart/sets/stub_links).
struct GivenUp {
  const StoredSet* set;
  const StoredSet* replacement;
};
std::vector<GivenUp> given_up(const std::vector<StoredSet>& sets, const restart::StubLinks& links);

/// Leaves out sets in bundles that also hold a set which stays: a bundle is removed with the last
/// of its sets.
std::vector<GivenUp> without_shared_containers(std::vector<GivenUp> orders,
                                               const std::vector<StoredSet>& sets);

/// Returns sets that may be removed, judging by every file below their base: no stub there names
/// one of their parts, none is known to be elsewhere, and a newer whole set of the same masked name
/// exists. For `mcr gc`, not for a leader. Fails if anything could not be looked at.
Result<std::vector<GivenUp>> superseded(const std::vector<StoredSet>& sets);

/// Removes the set's containers, then our links to its stubs. Fails with EPERM if these are no
/// longer the files and the directory that were read. After a crash, parts of the set are missing,
/// and the next call finds it again. The caller has made its replacement durable.
Result<void> remove_set(const GivenUp& order);

}  // namespace mcr::aggregation
