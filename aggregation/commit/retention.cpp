// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/retention.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "aggregation/commit/index_place.hpp"
#include "aggregation/commit/written_place.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/sets/removed_sets.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {

namespace fs = std::filesystem;
using restart::File;
using restart::FileIdentity;
using restart::name_of;
using restart::parent_of;

namespace {

/// True if other users may have made some of its containers, and the user copied these.
bool has_copies(const StoredSet& set) { return set.is_of_copies || set.has_copied_parts; }

/// Where stubs are looked for: an open directory, and the name in it of the directory of containers.
struct Tree {
  const File& directory;
  std::string path;
  std::string containers;
};

/// Finds all stubs in an open directory and below it, for a decision about `set`.
/// Fails if a directory or file could not be looked at. Fails as well if stubs may be hidden by
/// users who move directories and may not remove the set's containers.
class StubsBelow {
 public:
  /// `base` is the set's; `tree` may be another directory.
  StubsBelow(const StoredSet& set, const File& base, const Tree& tree)
      : set_(set),
        base_(base),
        top_(tree.path),
        root_(restart::link_path(tree.directory.descriptor())),
        containers_(root_ + "/" + tree.containers) {}

  Result<StubsFound> find() {
    MCR_TRY(look_below());
    // A file that was moved during the first look may have been missed at both places.
    is_second_look_ = true;
    MCR_TRY(look_below());
    return std::move(stubs_);
  }

 private:
  Result<void> look_below() {
    std::error_code problem;
    MCR_TRY(look_at(root_));
    fs::recursive_directory_iterator entry(root_, problem);
    for (; !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
      // Our own links do not count as names of a stub, and other users' links cannot be read.
      const fs::path& path = entry->path();
      if (restart::is_links_directory_name(path.filename().native()) &&
          is_closed_by_another(path.native())) {
        entry.disable_recursion_pending();
        continue;
      }
      const fs::path above = path.parent_path();
      const bool is_link_of_ours = above.parent_path() == containers_ &&
                                   restart::is_links_directory_name(above.filename().native());
      if (!is_link_of_ours) MCR_TRY(look_at(path.native()));
    }
    if (problem) return failed(root_, problem.value());
    return {};
  }

  /// True for a directory that only its owner may enter, if that is not the set's owner or not this user.
  [[nodiscard]] bool is_closed_by_another(const std::string& path) const {
    struct stat status {};
    return restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) ==
               0 &&
           S_ISDIR(status.st_mode) && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0 &&
           (status.st_uid != set_.owner || status.st_uid != ::geteuid());
  }

  [[nodiscard]] Result<bool> is_rearranged(const std::string& path) const {
    const int links = path == root_ ? 0 : O_NOFOLLOW;
    const File directory = MCR_TRY(File::open(AT_FDCWD, path, O_PATH | O_DIRECTORY | links));
    return may_be_rearranged(set_, base_, directory);
  }

  [[nodiscard]] std::string shown(const std::string& path) const {
    return top_ + path.substr(std::min(root_.size(), path.size()));
  }
  [[nodiscard]] Error failed(const std::string& path, int number) const {
    return Error{Cause::system,
                 shown(path) + " cannot be read: " + std::system_category().message(number) +
                     ". Stubs below it may still need containers, so nothing was removed",
                 number};
  }

  Result<void> look_at(const std::string& path) {
    struct stat status {};
    const bool is_root = path == root_;
    const int flags = is_root ? 0 : AT_SYMLINK_NOFOLLOW;
    if (restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, flags) != 0) {
      if (errno == ENOENT) return {};
      return failed(path, errno);
    }
    const auto is_doubtful = S_ISDIR(status.st_mode) ? is_rearranged(path) : false;
    if (!is_doubtful && is_doubtful.error().system_error == ENOENT) return {};
    if (!is_doubtful) return failed(path, is_doubtful.error().system_error);
    if (*is_doubtful) return could_hide_stubs(shown(path));
    if (S_ISDIR(status.st_mode) &&
        ::faccessat(AT_FDCWD, path.c_str(), R_OK | X_OK, AT_EACCESS) != 0 && errno != ENOENT)
      return failed(path, errno);
    if (S_ISDIR(status.st_mode)) return compare(path, status);
    if (!S_ISREG(status.st_mode)) return {};
    const auto there = restart::file_at(AT_FDCWD, path, restart::Links::not_followed);
    if (there.is_stub()) stubs_.emplace(there.stub.part, there.stub.container_directory);
    // A file that another user has closed to this user cannot be a stub of the set's owner.
    const int number = there.error.system_error;
    const bool is_hidden = there.kind == restart::FileAt::Kind::closed &&
                           (number != EACCES || restart::is_believed(status.st_uid, set_.owner));
    if (is_hidden) return failed(path, number);
    return {};
  }

  Result<void> compare(const std::string& path, const struct stat& directory) {
    const FileIdentity identity(directory);
    const std::uint64_t modified_ns = restart::modified_ns(directory);
    if (!is_second_look_) {
      modified_[identity] = modified_ns;
      return {};
    }
    const auto before = modified_.find(identity);
    if (before != modified_.end() && before->second == modified_ns) return {};
    return Error{Cause::system,
                 shown(path) +
                     " changed during the search for stubs, so nothing was removed; run the "
                     "command again when no files are being moved there",
                 EAGAIN};
  }

  const StoredSet& set_;
  const File& base_;
  std::string top_;  ///< path of the directory, for messages
  std::string root_;
  std::string containers_;  ///< the directory of these containers; directories of links lie in it
  StubsFound stubs_;
  bool is_second_look_ = false;
  std::map<FileIdentity, std::uint64_t> modified_;  ///< of directories, at the first look
};

/// True if the part's stub, or a copy of it, lies or may lie at its path.
bool lies_at_its_path(const StoredPart& part) {
  using Kind = restart::FileAt::Kind;
  const auto there = restart::file_at(part.open());
  if (there.kind == Kind::closed) return !restart::means_gone(there.error.system_error);
  return there.kind == Kind::damaged_stub || there.is_stub_of(part.part);
}

/// True if nothing lies at the part's path, or only a file of another user who could not have put it in
/// the place of the stub of `owner`.
bool is_path_free(const StoredPart& part, uid_t owner) {
  const auto there = part.open();
  if (!there && restart::means_gone(there.error().system_error)) return true;
  if (part.below.empty()) return false;
  constexpr int to_look = O_PATH | O_DIRECTORY;
  const auto base = part.home->open_base(to_look);
  if (!base) return false;
  const auto home = open_parent_beneath(*base, part.below, to_look);
  struct stat status {};
  return home &&
         restart::system_calls().fstatat(home->descriptor(), name_of(part.below).c_str(), &status,
                                         AT_SYMLINK_NOFOLLOW) == 0 &&
         !restart::is_believed_in(*home, status, owner);
}

bool is_given_up(const StoredSet& set, const restart::StubLinks& links) {
  if (set.is_unreadable || !set.natives.empty()) return false;
  return std::all_of(set.parts.begin(), set.parts.end(), [&](const StoredPart& part) {
    return links.fate(part.part, set.owner, set.written_ns) == restart::StubLinks::Fate::given_up &&
           !lies_at_its_path(part);
  });
}

}  // namespace

Result<bool> may_be_rearranged(const StoredSet& set, const File& base, const File& directory) {
  const struct stat status = MCR_TRY(directory.status());
  if (!set.beside.writers_may_remove(set.owner))
    return !restart::is_believed(status.st_uid, set.owner) || restart::others_may_write(status);
  return !MCR_TRY(restart::Beside::of(base, directory)).is_no_more_open();
}

Error could_hide_stubs(const std::string& directory) {
  return Error{Cause::system,
               directory +
                   " may be changed by users who may not remove these containers and who could "
                   "hide stubs there, so nothing was removed; name a directory that only you "
                   "can change, or use gc=on",
               EPERM};
}

Replacements::Replacements(const std::vector<StoredSet>& sets) {
  const auto offer = [](const StoredSet*& newest, const StoredSet& set) {
    const bool is_better =
        newest == nullptr ||
        (has_copies(*newest) == has_copies(set) ? is_older(*newest, set) : has_copies(*newest));
    if (is_better) newest = &set;
  };
  for (const StoredSet& set : sets) {
    if (set.wholeness != Wholeness::whole) continue;
    offer(newest_of_name_[{set.name.masked_name, set.owner}], set);
    offer(newest_of_pattern_[{restart::pattern_of(set.name.masked_name), set.owner}], set);
  }
}

const StoredSet* Replacements::of(const StoredSet& set, bool of_same_pattern) const {
  // A set is replaced only by one of the same owner or of root.
  const auto newer = [&](const Newest& newest, const std::string& name) {
    const StoredSet* best = nullptr;
    for (const uid_t owner : {set.owner, uid_t{0}}) {
      const auto found = newest.find({name, owner});
      if (found == newest.end() || !is_older(set, *found->second)) continue;
      if (has_copies(*found->second)) continue;
      if (best == nullptr || is_older(*best, *found->second)) best = found->second;
    }
    return best;
  };
  const bool is_deleted = of_same_pattern && !set.parts.empty() &&
                          std::all_of(set.parts.begin(), set.parts.end(), [&](const auto& part) {
                            return is_path_free(part, set.owner);
                          });
  const StoredSet* const same_name = newer(newest_of_name_, set.name.masked_name);
  if (!is_deleted) return same_name;
  const StoredSet* const same_pattern =
      newer(newest_of_pattern_, restart::pattern_of(set.name.masked_name));
  return same_pattern != nullptr ? same_pattern : same_name;
}

std::vector<GivenUp> without_shared_containers(std::vector<GivenUp> orders,
                                               const std::vector<StoredSet>& sets) {
  std::map<std::string, std::size_t> stays;  // by bundle: how many of its sets must stay
  for (const StoredSet& set : sets) {
    for (const std::string& path : set.containers) stays[path] += set.is_bundled ? 1 : 0;
  }
  for (const GivenUp& order : orders) {
    for (const std::string& path : order.set->containers)
      stays[path] -= order.set->is_bundled ? 1 : 0;
  }
  std::erase_if(orders, [&](const GivenUp& order) {
    return std::any_of(order.set->containers.begin(), order.set->containers.end(),
                       [&](const std::string& path) { return stays[path] != 0; });
  });
  return orders;
}

std::vector<GivenUp> given_up(const std::vector<StoredSet>& sets, const restart::StubLinks& links) {
  std::vector<GivenUp> found;
  const Replacements replacements(sets);
  for (const StoredSet& set : sets) {
    const StoredSet* const replacement = replacements.of(set, true);
    if (replacement != nullptr && is_given_up(set, links)) found.push_back({&set, replacement});
  }
  return found;
}

namespace {

Result<StubsFound> stubs_below_base(const StoredSet& set) {
  const File base = MCR_TRY(set.home->open_base(O_RDONLY | O_DIRECTORY));
  return StubsBelow(set, base, {base, set.home->base, set.home->name}).find();
}

Result<StubsFound> stubs_below(const WrittenPlace& place, const StoredSet& set) {
  const File base = MCR_TRY(set.home->open_base(O_RDONLY | O_DIRECTORY));
  return StubsBelow(set, base, {place.directory, place.path, place.name}).find();
}

/// Looks for stubs, and searches no directory twice for sets of one owner in one base.
class StubSearch {
 public:
  explicit StubSearch(const std::vector<StoredSet>& sets) : sets_(sets) {}

  /// True if a stub of the set lies below its base or below the directory where it was written. ENOENT: no
  /// stub shows that the set's stubs belong below the base.
  Result<bool> finds_stub_of(const StoredSet& set) {
    const FileIdentity& base = set.home->directories.outer;
    const auto place = place_of(set);
    const StubsFound& below_base =
        *MCR_TRY(found(base, set, [&] { return stubs_below_base(set); }));
    if (!place && !was_moved_to_base(set, sets_, below_base)) {
      return Error{
          Cause::system,
          no_stub_below_base(set) + "; they are kept; name the directory of the checkpoints",
          ENOENT};
    }
    if (has_stub(set, below_base)) return true;
    if (!place || place->is_base) return false;
    const FileIdentity there(MCR_TRY(place->directory.status()));
    return has_stub(set, *MCR_TRY(found(there, set, [&] { return stubs_below(*place, set); })));
  }

 private:
  static bool has_stub(const StoredSet& set, const StubsFound& found) {
    return std::any_of(set.parts.begin(), set.parts.end(),
                       [&](const StoredPart& part) { return found.contains(part.part); });
  }

  /// As written_place(). A long directory is not listed again for each set if it leads nowhere.
  std::optional<WrittenPlace> place_of(const StoredSet& set) {
    const std::pair key{parent_of(set.name.masked_name), set.home->directories.inner};
    if (nowhere_.contains(key)) return std::nullopt;
    auto place = written_place(set);
    if (!place) nowhere_.insert(key);
    return place;
  }

  template <typename Look>
  Result<const StubsFound*> found(const FileIdentity& top, const StoredSet& set, Look look) {
    const Key key{top, set.home->directories.outer, set.owner};
    const auto known = found_.find(key);
    if (known != found_.end()) return &known->second;
    return &found_.emplace(key, MCR_TRY(look())).first->second;
  }

  using Key = std::tuple<FileIdentity, FileIdentity, uid_t>;  ///< top of the search, base, owner
  const std::vector<StoredSet>& sets_;
  std::map<Key, StubsFound> found_;
  std::set<std::pair<std::string, FileIdentity>> nowhere_;  ///< parents of masked names; containers
};

}  // namespace

Result<std::set<PartId>> stubs_below_base_of(const StoredSet& set) {
  std::set<PartId> parts;
  for (const auto& [part, container_dir] : MCR_TRY(stubs_below_base(set))) parts.insert(part);
  return parts;
}

Result<Superseded> superseded(const std::vector<StoredSet>& sets, const IsUsed& is_used) {
  StubSearch search(sets);
  std::map<std::string, restart::StubLinks> links;
  std::vector<GivenUp> found;
  Superseded answer;
  const Replacements replacements(sets);
  for (const StoredSet& set : sets) {
    // A directory that is more open than its parent was not made for containers: the stubs of
    // containers in it may be elsewhere, and are not looked for in the parent.
    if (set.is_unreadable || !set.beside.is_no_more_open()) continue;
    const ContainersPlace& place = *set.home;
    if (!links.contains(place.directory)) {
      const HeldContainers home = MCR_TRY(place.hold());
      links.emplace(place.directory, MCR_TRY(restart::StubLinks::list(home.directory())));
    }
    const restart::StubLinks& here = links.at(place.directory);
    const StoredSet* const replacement = replacements.of(set, is_given_up(set, here));
    if (replacement == nullptr) continue;
    // Stubs are searched for even if the links say that the set is given up: a copy of a stub may lie
    // below the base.
    const auto has_stub = search.finds_stub_of(set);
    if (!has_stub && has_stub.error().system_error == ENOENT) {
      answer.kept.insert(has_stub.error().message);
      continue;
    }
    const bool is_linked =
        std::any_of(set.parts.begin(), set.parts.end(), [&](const StoredPart& part) {
          return here.fate(part.part, set.owner) == restart::StubLinks::Fate::in_use;
        });
    const bool is_hidden = here.is_hidden(set.owner);
    if (!MCR_TRY(has_stub) && is_hidden)
      answer.kept.insert(
          set.prefix + "* belongs to " + restart::user_text(set.owner) +
          ", whose links to files (gc=on) you may not see; it is kept; let this user "
          "or root call mcr gc");
    if (!MCR_TRY(has_stub) && !is_hidden && !is_linked && !MCR_TRY(is_used(set)))
      found.push_back({&set, replacement});
  }
  answer.orders = without_shared_containers(std::move(found), sets);
  return answer;
}

namespace {

Result<void> remove_container(const File& home, const std::string& path, const FileIdentity& read) {
  const std::string name = name_of(path);
  struct stat there {};
  if (restart::system_calls().fstatat(home.descriptor(), name.c_str(), &there,
                                      AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return restart::system_error("cannot look at", path);
  }
  if (FileIdentity(there) != read) return replaced_meanwhile(path);
  if (restart::system_calls().unlinkat(home.descriptor(), name.c_str(), 0) != 0 && errno != ENOENT)
    return restart::system_error("cannot remove", path);
  return {};
}

}  // namespace

Result<void> remove_set(const GivenUp& order) {
  const StoredSet& set = *order.set;
  const std::string& directory = set.home->directory;
  const File base = MCR_TRY(set.home->open_base(O_PATH | O_DIRECTORY));
  const File home = MCR_TRY(restart::open_own_containers(base, set.home->name));
  if (FileIdentity(MCR_TRY(home.status())) != set.beside.identity())
    return replaced_meanwhile(directory);
  const auto note = [&] {
    return restart::note_removed_set(
        home, set.steps_up ? distinct_prefix_of(set.name, *set.steps_up) : name_of(set.prefix),
        "removed: the program has deleted or overwritten its files, and " +
            name_of(order.replacement->prefix) +
            "* is whole; a copy of a stub keeps nothing alive");
  };
  const bool is_noted = note();
  for (const std::string& path : set.containers) {
    // If the directory was copied, the set's containers lie in both copies. The containers in the
    // other directory are removed by the next call.
    if (parent_of(path) == directory) MCR_TRY(remove_container(home, path, set.read.at(path).file));
  }
  // On full storage, the removal has made room for the line.
  if (!is_noted) (void)note();
  const auto links = MCR_TRY(restart::StubLinks::list(home));
  for (const StoredPart& part : set.parts) links.remove(part.part);
  return {};
}

}  // namespace mcr::aggregation
