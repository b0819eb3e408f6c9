// SPDX-License-Identifier: BSD-3-Clause
// The sets whose containers lie in a directory: which are whole, which is the newest, and which
// nobody needs any more.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "aggregation/merge/sets.hpp"
#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/index.hpp"
#include "restart/sets/stub_links.hpp"

namespace mcr::aggregation {

/// The launch that `mcr pack` writes into all its containers: it tells no sets apart.
inline constexpr const char* packed_launch = "packed";

/// True if the set is one file to which no other rank has a counterpart, in a launch of several ranks.
/// Such a set is not a checkpoint of the job. False for the sets of `mcr pack`.
bool is_of_one_file(const restart::SetIdentity& set);

struct StoredPart {
  PartId part;
  std::uint32_t rank = 0;
  std::string path;  ///< where the program left its stub, for people and for comparing
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  /// Where the stub is looked for: `below` in `base`, and nowhere else. Empty where the container
  /// names a path that leads out of there.
  std::string base;
  std::string below;
  std::string containers;  ///< the name in `base` of the directory of containers, and which it is
  restart::FileIdentity containers_identity;

  /// Opens `base`. EPERM: it is not the directory any more in which these containers were read.
  [[nodiscard]] Result<restart::File> open_base(int flags) const;
  /// Opens what lies there; no link is followed. ENOENT, ENOTDIR: nothing does.
  [[nodiscard]] Result<restart::File> open() const;
};

struct StoredSet {
  SetName name;
  uid_t owner = 0;  ///< of its containers: nobody else speaks for it
  gid_t group = 0;
  restart::Beside beside;     ///< the directory of its containers, as it was when it was listed
  std::string container_dir;  ///< the setting, as it must have been
  std::uint32_t rank_count = 1;
  std::string prefix;                   ///< that the paths of its containers have in common
  std::vector<std::string> containers;  ///< paths; those without parts come last
  std::map<std::string, restart::FileIdentity> read;  ///< by path of a container, what was read
  std::vector<StoredPart> parts;
  Account account;
  bool is_of_one_file = false;  ///< is_of_one_file()
  Wholeness wholeness = Wholeness::unknown;
  std::uint64_t created_ns = 0;           ///< of its newest container
  std::uint64_t begun_ns = 0;             ///< when its first part was begun, by its node's clock
  std::uint64_t order_ns = 0;             ///< what orders sets (SetIdentity::order)
  std::vector<std::string> natives;       ///< members that are native files, still there
  std::vector<std::string> kept_aside;    ///< those that newer files replaced, where they are now
  std::vector<std::string> lost_natives;  ///< and those that are not
  std::uint64_t container_bytes = 0;
  std::vector<std::string> damaged;  ///< what is wrong; such a set is not called whole
  bool is_bundled = false;           ///< a container of it holds other sets too
  bool is_unreadable = false;        ///< one of its containers cannot be read: who knows its parts
};

/// All sets of these containers, oldest first. What cannot be read at all is told in `unreadable`.
std::vector<StoredSet> stored_sets(const std::vector<std::string>& containers,
                                   std::vector<std::string>& unreadable);

/// The beginning of the names of a set's own containers. Sets in bundles are called so too.
std::string name_prefix_of(const restart::SetIdentity& set);

/// The newest whole set that is not of one file only; nullptr where there is none.
const StoredSet* newest_whole(const std::vector<StoredSet>& sets);

/// Where a path of a container's index leads: below the directory in which that of the containers
/// stands, and nowhere else, whatever the container says.
struct IndexPlace {
  std::string text;           ///< as the program knew it, where the tree was not moved
  std::string base;           ///< the directory, seen from the container
  std::string below;          ///< empty: the path leads out of there
  std::string container_dir;  ///< the setting
};
IndexPlace place_in_tree(const std::string& container, const restart::SetIdentity& set,
                         const std::string& path);

/// A native member of a container's set that is still there.
struct OpenNative {
  restart::File file;
  std::string path;
  bool is_aside = false;  ///< kept aside, because a newer file replaced it
};
/// Opens it with `flags` where the container's owner has it: at `place`, or kept aside. Cause::damaged:
/// neither is that owner's file. With O_PATH the file need not be readable for this user.
Result<OpenNative> open_native(const std::string& container, const IndexPlace& place,
                               const restart::NativeMember& native, uid_t owner, int flags);

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
