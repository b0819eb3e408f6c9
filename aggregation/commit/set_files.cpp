// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/set_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "aggregation/commit/copied_sets.hpp"
#include "aggregation/commit/index_place.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/late_copies.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/stored_sets.hpp"

namespace mcr::aggregation {

using restart::ContainerReader;
using restart::File;
using restart::FileIdentity;
using restart::name_of;
using restart::parent_of;
using restart::SetIdentity;
using restart::SetShare;

namespace {

std::string prefix_of(const std::string& container) {
  // Of …launch-sequence.r0-7.h5, returns everything up to the sequence and its dot.
  const std::size_t ranks = container.rfind(".r");
  return ranks == std::string::npos ? container : container.substr(0, ranks + 1);
}

/// Orders the sets, and marks those that drifted, as opens do (restart/sets/generations).
void order_and_mark(std::vector<StoredSet>& sets) {
  struct Writings {
    restart::WritingTimes times;
    restart::WritingAccounts accounts;
  };
  // This user's sets are those with an own date. Another user's set may name a launch of this user.
  // A copy of a container may name any launch, too.
  std::map<std::tuple<bool, bool, uid_t>, Writings> by_user;
  for (StoredSet& set : sets) {
    const uid_t owner = set.has_own_date ? ::geteuid() : set.owner;
    Writings& writings = by_user[{set.is_copied, set.has_own_date, owner}];
    const restart::GenerationName name{set.name.launch, set.name.sequence, set.name.masked_name};
    writings.times[name] = &set.order_ns;
    writings.accounts[name] = &set.account;
  }
  for (const auto& [user, writings] : by_user) {
    restart::follow_sequences(writings.times);
    restart::mark_after_failed_attempts(writings.accounts);
  }
}

/// A container file, and the user to whom it is attributed.
struct ContainerFile {
  std::string path;
  const HeldContainers& home;
  struct stat status {};  ///< of the very file that was read, with its author as owner
  restart::Maker maker;
  restart::Access access;
  bool is_copy = false;
  bool is_late_copy = false;  ///< not if the copy came with the directory (LateCopies)
};

void add_parts(StoredSet& set, const ContainerFile& container, const SetShare& share) {
  for (const restart::PartRecord* record : share.parts) {
    const restart::PartEntry& entry = record->entry;
    IndexPlace place = place_in_tree(container.home, share.set, entry.path);
    set.container_dir = place.container_dir;
    set.amendments.add(share.set.masked_name, entry.rank, place.text, share.set.amended_by);
    set.parts.push_back({entry.part, entry.rank, std::move(place.text),
                         restart::mode_within(entry.mode, container.access), entry.size,
                         container.home.place(), std::move(place.below)});
  }
}

void add_natives(StoredSet& set, const ContainerFile& container, const SetShare& share,
                 NamesByInode& names) {
  for (const restart::NativeMember& native : share.set.natives) {
    const IndexPlace place = place_in_tree(container.home, share.set, native.path);
    const auto there = open_native(container.home, share.set, place, native,
                                   container.status.st_uid, O_PATH, names);
    // Natives of the first writing do not tell whether they were written again.
    if (!share.set.amended_by.empty())
      set.amendments.add(share.set.masked_name, native.rank, place.text, share.set.amended_by);
    if (!there) {
      set.lost_natives.push_back(place.text);
    } else if (there->is_aside) {
      set.kept_aside.push_back(there->path);
    } else {
      set.natives.push_back({native.rank, there->path});
    }
  }
}

void add_share(StoredSet& set, const ContainerFile& container, const SetShare& share,
               std::uint64_t bytes, NamesByInode& names) {
  const SetIdentity& identity = share.set;
  if (set.prefix.empty()) {
    set.owner = container.status.st_uid;
    set.group = container.status.st_gid;
    set.beside = container.home.beside();
    set.home = container.home.place();
  }
  set.name = {identity.launch, identity.masked_name, identity.sequence};
  set.prefix = share.is_bundled ? parent_of(container.path) + "/" + name_prefix_of(identity)
                                : prefix_of(container.path);
  set.is_bundled |= share.is_bundled;
  set.is_copied &= container.is_late_copy;
  set.is_of_copies &= container.is_copy;
  if (identity.steps_up) set.steps_up = identity.steps_up;
  set.is_of_one_file |= is_of_one_file(identity);
  set.read[container.path] = {container.home.place(), FileIdentity(container.status)};
  set.container_bytes += bytes;
  set.created_ns = std::max(set.created_ns, identity.created_ns);
  set.written_ns = std::max(set.written_ns, restart::modified_ns(container.status));
  const std::uint64_t begun = identity.begun_ns != 0 ? identity.begun_ns : identity.created_ns;
  set.begun_ns = set.begun_ns == 0 ? begun : std::min(set.begun_ns, begun);
  restart::add_order(set.order_ns, set.has_own_date, identity, container.maker);
  account_for(set.account, share);
  set.rank_count = set.account.rank_count;
  add_parts(set, container, share);
  add_natives(set, container, share, names);
}

/// Collects the sets while one container after the other is read.
class FoundSets {
 public:
  Result<void> add(const std::string& path) {
    const auto held = directories_.hold(parent_of(path));
    if (!held) return damaged(path, restart::unknown_user, held.error());
    const HeldContainers& home = **held;
    const restart::Beside& beside = home.beside();
    ContainerFile container{path, home, {}, {}, {}, false, false};
    auto file = home.open_file(path);
    const auto opened = file ? file->status() : Result<struct stat>(file.error());
    if (opened) {
      container.status = *opened;
    } else {
      (void)restart::system_calls().fstatat(home.directory().descriptor(), name_of(path).c_str(),
                                            &container.status, AT_SYMLINK_NOFOLLOW);
    }
    // Below, `container.status` gets the author as its owner.
    const struct stat file_status = container.status;
    container.maker = restart::maker_of(beside, container.status);
    container.status.st_uid = container.maker.author;
    const uid_t voice = beside.voice(container.status.st_uid);
    if (opened && voice == restart::unknown_user) {
      return damaged(
          path, voice,
          Error{Cause::damaged,
                path + " is not believed, because other users may write to its directory, and "
                       "could have put it there. If you know the file, use chmod go-w for file and "
                       "directory"});
    }
    // One file under many names is one container, and is read only once.
    Seen unseen;
    Seen& seen = opened ? seen_[{parent_of(path), FileIdentity(*opened)}] : unseen;
    if (seen.is_read && seen.damage) return damaged(path, voice, *seen.damage);
    if (seen.is_copy && !are_originals_read_) return {};
    if (std::exchange(seen.is_read, true)) return {};
    const auto reader = file ? ContainerReader::read(*std::move(file), path)
                             : Result<std::shared_ptr<ContainerReader>>(file.error());
    const auto shares =
        reader ? restart::shares_of(**reader) : Result<std::vector<SetShare>>(reader.error());
    if (!shares) {
      // A damaged late copy says nothing of the set's own containers.
      const restart::FileOrigin origin = restart::origin_by(
          restart::origin_of(home.directory(), name_of(path)).value_or(restart::FileOrigin()),
          file_status, container.maker.author);
      if (origin.is_copy && !are_originals_read_) {
        seen.is_read = false;
        seen.is_copy = true;
        copies_.push_back(path);
        return {};
      }
      seen.damage = shares.error();
      if (late_copies_[parent_of(path)].is_late(origin)) return shares.error();
      return damaged(path, voice, shares.error());
    }
    container.access = MCR_TRY((*reader)->access());
    const restart::FileOrigin origin =
        restart::origin_by((*reader)->origin(), *opened, container.maker.author);
    restart::LateCopies& late = late_copies_[parent_of(path)];
    if (restart::is_believed(container.maker.author, ::geteuid()))
      late.add(origin, restart::newest_order((*reader)->set()));
    if (origin.is_copy && !are_originals_read_) {
      seen.is_read = false;
      seen.is_copy = true;
      copies_.push_back(path);
      return {};
    }
    container.is_copy = origin.is_copy;
    container.is_late_copy = late.is_late(origin);
    container.maker = container.maker.of_copy(late.latest_ns(origin));
    const auto size = static_cast<std::uint64_t>(container.status.st_size);
    for (const SetShare& share : *shares) {
      const SetName name{share.set.launch, share.set.masked_name, share.set.sequence};
      Found& found = sets_[{name, voice, container.is_late_copy}];
      add_share(found.set, container, share, size / shares->size(), names_);
      (share.parts.empty() ? found.accounts : found.set.containers).push_back(path);
    }
    return {};
  }

  /// Reads the copies of containers, after all originals: only then it is known which of them are late ones.
  void read_copies(std::vector<Error>& unreadable) {
    are_originals_read_ = true;
    for (const std::string& path : std::exchange(copies_, {}))
      if (const auto added = add(path); !added) unreadable.push_back(added.error());
  }

  std::vector<StoredSet> take() {
    std::vector<StoredSet> all;
    for (auto& [key, found] : sets_)
      found.set.containers.insert(found.set.containers.end(), found.accounts.begin(),
                                  found.accounts.end());
    for (auto& [key, found] : sets_) {
      const auto& [name, voice, is_copy] = key;
      const auto copied = sets_.find({name, voice, true});
      if (!is_copy && copied != sets_.end() && add_named_parts(found.set, copied->second.set))
        sets_.erase(copied);
      StoredSet& set = found.set;
      const auto damage = damage_.find(std::pair(set.prefix, voice));
      set.is_unreadable = damage != damage_.end();
      if (set.is_unreadable) {
        set.damaged.push_back(damage->second.message);
        set.is_broken = damage->second.cause != Cause::system;
      }
      for (const std::string& path : set.lost_natives)
        set.damaged.push_back(path + ", a native file of the set, was replaced or removed");
      all.push_back(std::move(set));
    }
    order_and_mark(all);
    mark_unused_copies(all);
    for (StoredSet& set : all) {
      set.wholeness = wholeness(set.account);
      const bool is_doubtful =
          !set.damaged.empty() || set.amendments.are_partial() || set.is_unused_copy;
      if (is_doubtful && set.wholeness == Wholeness::whole) set.wholeness = Wholeness::unknown;
    }
    std::sort(all.begin(), all.end(), is_older);
    return all;
  }

 private:
  struct Found {
    StoredSet set;
    std::vector<std::string> accounts;  ///< its containers without parts
  };

  struct Seen {
    bool is_read = false;
    bool is_copy = false;  ///< it is read after all originals
    std::optional<Error> damage;
  };

  Error damaged(const std::string& path, uid_t voice, const Error& error) {
    damage_.emplace(std::pair(prefix_of(path), voice), error);
    return error;
  }

  /// Keyed by set name, by the user to whom the containers are attributed, and by whether they are late copies: a container
  /// of another user joins a set only if both users can replace each other's files.
  std::map<std::tuple<SetName, uid_t, bool>, Found> sets_;
  std::map<std::pair<std::string, uid_t>, Error> damage_;   ///< by prefix and voice
  std::map<std::string, restart::LateCopies> late_copies_;  ///< by directory
  std::vector<std::string> copies_;                         ///< to be read after all originals
  bool are_originals_read_ = false;
  HeldByPath directories_;
  NamesByInode names_;
  std::map<std::pair<std::string, FileIdentity>, Seen> seen_;  ///< by directory
};

}  // namespace

bool is_older(const StoredSet& a, const StoredSet& b) {
  return std::tie(a.order_ns, a.name.launch, a.name.sequence, a.name) <
         std::tie(b.order_ns, b.name.launch, b.name.sequence, b.name);
}

bool is_of_one_file(const SetIdentity& set) {
  return set.rank_count > 1 && set.launch != packed_launch &&
         restart::is_of_one_file(set.masked_name);
}

Result<File> StoredPart::open() const {
  if (below.empty()) {
    errno = EXDEV;
    return restart::system_error(
        "cannot read a file that the container names outside its own directory:", path);
  }
  const File base = MCR_TRY(home->open_base(O_PATH | O_DIRECTORY));
  return restart::open_beneath(base.descriptor(), below, O_RDONLY);
}

std::string StoredSet::name_below() const {
  const auto part = std::find_if(parts.begin(), parts.end(),
                                 [](const StoredPart& it) { return !it.below.empty(); });
  if (part == parts.end()) return name.masked_name;
  const auto levels = std::count(part->below.begin(), part->below.end(), '/');
  const std::string tail =
      restart::path_tail(name.masked_name, static_cast<std::size_t>(levels) + 1);
  return tail.starts_with('/') ? tail.substr(1) : tail;
}

Result<File> StoredSet::open_container(const std::string& path) const {
  const ReadContainer& container = read.at(path);
  const HeldContainers home = MCR_TRY(container.home->hold());
  File file = MCR_TRY(home.open_file(path));
  if (FileIdentity(MCR_TRY(file.status())) != container.file) return replaced_meanwhile(path);
  return file;
}

std::string name_prefix_of(const SetIdentity& set) {
  return restart::container_name(set.masked_name, "mcr", set.launch, set.sequence).prefix;
}

std::string distinct_prefix_of(const SetName& name, std::uint32_t steps_up) {
  return restart::container_name(name.masked_name, restart::container_dir_of(steps_up, "any"),
                                 name.launch, name.sequence)
      .distinct_prefix;
}

std::vector<StoredSet> stored_sets(const std::vector<std::string>& containers,
                                   std::vector<Error>& unreadable) {
  FoundSets found;
  for (const std::string& path : containers) {
    if (const auto added = found.add(path); !added) unreadable.push_back(added.error());
  }
  found.read_copies(unreadable);
  return found.take();
}

const StoredSet* newest_whole(const std::vector<StoredSet>& sets) {
  const StoredSet* newest = nullptr;
  for (const StoredSet& set : sets) {
    if (set.wholeness == Wholeness::whole && !set.is_of_one_file) newest = &set;
  }
  return newest;
}

}  // namespace mcr::aggregation
