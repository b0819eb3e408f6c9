// SPDX-License-Identifier: BSD-3-Clause
// Which sets are no longer needed, and their removal.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <set>
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
  /// name. A newer set of the same pattern (step00020 for step00010) counts too if
  /// `of_same_pattern` is true and no file is left at this set's paths. nullptr: no set replaces
  /// this one, so it must stay. Copied containers, which may be another user's, replace none.
  [[nodiscard]] const StoredSet* of(const StoredSet& set, bool of_same_pattern) const;

 private:
  using Newest =
      std::map<std::pair<std::string, uid_t>, const StoredSet*>;  ///< whole; by name, owner
  Newest newest_of_name_;                                         ///< by masked name
  Newest newest_of_pattern_;                                      ///< by pattern of the masked name
};

/// A set that the program has certainly given up, and the set that replaces it. Given up means: the
/// stub of every part is known to be deleted or overwritten under all its names
/// (restart/sets/stub_links).
struct GivenUp {
  const StoredSet* set;
  const StoredSet* replacement;
};
std::vector<GivenUp> given_up(const std::vector<StoredSet>& sets, const restart::StubLinks& links);

/// Leaves out a set if its bundle also holds a set that stays: a bundle is removed with the last of
/// its sets.
std::vector<GivenUp> without_shared_containers(std::vector<GivenUp> orders,
                                               const std::vector<StoredSet>& sets);

struct Superseded {
  std::vector<GivenUp> orders;  ///< the sets that may be removed
  std::set<std::string> kept;   ///< why others are kept that may be superseded, for the user
};
/// True if a stub that lies elsewhere needs the set.
using IsUsed = std::function<Result<bool>(const StoredSet&)>;
/// Looks at every file below a set's base, and below the directory where it was written if that still leads
/// to its containers (written_place.hpp). The set may go if no stub there names one of its parts, if no
/// such stub is known to be elsewhere, if `is_used` finds none either, and if a newer whole set of the same masked name exists. It is
/// kept if nothing shows that its stubs belong below the base. For `mcr gc`, not for a leader. Fails if
/// a file or directory could not be looked at.
Result<Superseded> superseded(
    const std::vector<StoredSet>& sets,
    const IsUsed& is_used = [](const StoredSet&) -> Result<bool> { return false; });

/// True if users who may not remove the set's containers could have moved files or directories in the open `directory` to
/// where a search does not see them. A sticky bit does not prevent this: such a user can make a directory there and, when the
/// owner has put his directories into it, move it away. `base` is the set's.
Result<bool> may_be_rearranged(const StoredSet& set, const restart::File& base,
                               const restart::File& directory);
/// Why nothing is removed then: EPERM. `directory` is a path for the message.
Error could_hide_stubs(const std::string& directory);

/// Returns the parts of all stubs that lie in the directory which the set's ranks share, or below it. Fails
/// if a file or directory could not be looked at, and with EAGAIN if files were moved meanwhile.
Result<std::set<PartId>> stubs_below_base_of(const StoredSet& set);

/// Removes the set's containers, then our links to its stubs. Fails with EPERM if another directory
/// or other files have taken their places since they were read. If a crash interrupts the removal,
/// the next call finds the rest of the set. The caller has already made the replacement durable.
Result<void> remove_set(const GivenUp& order);

}  // namespace mcr::aggregation
