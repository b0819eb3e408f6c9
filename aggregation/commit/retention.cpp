// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/retention.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/known_generations.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/sets/removed_sets.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

namespace fs = std::filesystem;
using restart::File;
using restart::FileIdentity;
using restart::name_of;
using restart::parent_of;

namespace {

bool same_directory(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         FileIdentity(first) == FileIdentity(second);
}

std::string prefix_of(const std::string& container) {
  // …launch-sequence.r0-7.h5: all but the last components after the sequence.
  const std::size_t ranks = container.rfind(".r");
  return ranks == std::string::npos ? container : container.substr(0, ranks + 1);
}

/// A dead launch's leftovers may have been committed after the sets of the next one: what counts
/// is when a set was begun.
bool is_older(const StoredSet& a, const StoredSet& b) {
  return std::tie(a.order_ns, a.name.sequence, a.name) <
         std::tie(b.order_ns, b.name.sequence, b.name);
}

/// Of one name within a launch the sequence decides, whatever the clock said, as it does for opens
/// (restart/sets/generations): no set counts as begun before an earlier one.
void follow_sequences(std::vector<StoredSet>& sets) {
  // Those of an owner, launch and name by rising sequence.
  std::map<std::pair<uid_t, SetName>, StoredSet*> by_name;
  for (StoredSet& set : sets) by_name[{set.owner, set.name}] = &set;
  const StoredSet* before = nullptr;
  for (const auto& [key, set] : by_name) {
    const bool follows = before != nullptr && before->owner == set->owner &&
                         before->name.launch == set->name.launch &&
                         before->name.masked_name == set->name.masked_name;
    if (follows) set->order_ns = std::max(set->order_ns, before->order_ns);
    before = set;
  }
}

/// Names in a directory may lead elsewhere by now: to what nobody looked at.
Error is_exchanged(const std::string& path) {
  return Error{Cause::system,
               path + " is not what was looked at; nothing is removed there, look again", EPERM};
}

/// Opens `base` if the directory of containers that was read is in it, under its name. A link in that
/// one's place must be this user's, or root's.
Result<File> open_above(const std::string& base, const std::string& containers,
                        const FileIdentity& identity, int flags) {
  File home = MCR_TRY(File::open(AT_FDCWD, base, flags));
  struct stat there {};
  const auto look = [&](int how) {
    return restart::system_calls().fstatat(home.descriptor(), containers.c_str(), &there, how) == 0;
  };
  if (!look(AT_SYMLINK_NOFOLLOW)) return is_exchanged(base);
  const bool is_followed = S_ISLNK(there.st_mode) && restart::is_own_link(there);
  if (is_followed && !look(0)) return is_exchanged(base);
  if (FileIdentity(there) != identity) return is_exchanged(base);
  return home;
}

/// Whether a stub of this user's may lie in what cannot be opened.
bool may_hide_stubs(const struct stat& status) {
  return restart::is_believed(status.st_uid, ::geteuid());
}

/// Ids of all stubs in an open directory and below it, but for what other users have closed to this
/// one. An error where not all could be looked at.
Result<std::set<PartId>> parts_of_stubs_below(const File& home, const std::string& base) {
  std::set<PartId> parts;
  std::error_code problem;
  const std::string root = restart::link_path(home.descriptor());
  const auto failed = [&](const std::string& path, int number) {
    return Error{Cause::system,
                 base + path.substr(std::min(root.size(), path.size())) +
                     " cannot be looked at: " + std::system_category().message(number) +
                     ", so nobody knows which stubs lie there",
                 number};
  };
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied,
                                         problem);
  for (; !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    const std::string& path = entry->path().native();
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) continue;
    if (S_ISDIR(status.st_mode) && may_hide_stubs(status) &&
        ::faccessat(AT_FDCWD, path.c_str(), R_OK | X_OK, AT_EACCESS) != 0)
      return failed(path, errno);
    if (!S_ISREG(status.st_mode)) continue;
    // Our own links are names that do not count.
    if (entry->path().parent_path().filename() == restart::stub_links_directory) continue;
    const auto file = File::open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file) {
      const int number = file.error().system_error;
      if (number == ENOENT || (number == EACCES && !may_hide_stubs(status))) continue;
      return failed(path, number);
    }
    if (!restart::is_stub_file(*file)) continue;
    if (const auto stub = restart::read_stub_file(*file)) parts.insert(stub->part);
  }
  if (problem) return failed(root, problem.value());
  return parts;
}

bool means_nothing_there(const Error& error) {
  return error.system_error == ENOENT || error.system_error == ENOTDIR;
}

/// True where the stub of that part, or a copy of it, lies at its path, or may lie there.
bool lies_at_its_path(const StoredPart& part) {
  const auto file = part.open();
  if (!file) return !means_nothing_there(file.error());
  if (!restart::is_stub_file(*file)) return false;
  const auto stub = restart::read_stub_file(*file);
  return !stub || stub->part == part.part;
}

bool is_path_free(const StoredPart& part) {
  const auto there = part.open();
  return !there && means_nothing_there(there.error());
}

bool is_given_up(const StoredSet& set, const restart::StubLinks& links) {
  if (set.is_unreadable || !set.natives.empty()) return false;
  return std::all_of(set.parts.begin(), set.parts.end(), [&](const StoredPart& part) {
    return links.fate(part.part, set.owner) == restart::StubLinks::Fate::given_up &&
           !lies_at_its_path(part);
  });
}

std::string directory_of(const StoredSet& set) { return parent_of(set.prefix); }

SetName name_of_set(const restart::SetIdentity& set) {
  return {set.launch, set.masked_name, set.sequence};
}

/// Whose word a container is.
struct Speaker {
  uid_t owner = 0;
  gid_t group = 0;
  restart::Beside beside;
};

/// What a container, or the part of a bundle that is of one set, says of its set.
struct StoredContainer {
  std::string path;
  Speaker speaker;
  std::vector<restart::PartRecord> parts;
  std::uint64_t bytes = 0;
  FileIdentity file;
};

void add_container(StoredSet& set, const restart::SetIdentity& identity, const std::string& prefix,
                   const StoredContainer& container, std::vector<std::string>& accounts) {
  if (set.prefix.empty()) {
    set.owner = container.speaker.owner;
    set.group = container.speaker.group;
    set.beside = container.speaker.beside;
  }
  set.name = name_of_set(identity);
  set.rank_count = std::max(set.rank_count, identity.rank_count);
  set.prefix = prefix;
  (container.parts.empty() ? accounts : set.containers).push_back(container.path);
  set.read[container.path] = container.file;
  set.created_ns = std::max(set.created_ns, identity.created_ns);
  set.container_bytes += container.bytes;
  set.account.rank_count = set.rank_count;
  set.account.is_of_one_file = restart::is_of_one_file(identity.masked_name);
  set.is_of_one_file |= is_of_one_file(identity);
  set.account.passed.insert(identity.passed_ranks.begin(), identity.passed_ranks.end());
  set.account.failed.insert(identity.failed_ranks.begin(), identity.failed_ranks.end());
  set.account.drifted |= identity.drifted;
  const std::uint64_t begun = identity.begun_ns != 0 ? identity.begun_ns : identity.created_ns;
  set.begun_ns = set.begun_ns == 0 ? begun : std::min(set.begun_ns, begun);
  set.order_ns = set.order_ns == 0 ? identity.order() : std::min(set.order_ns, identity.order());
  for (const restart::PartRecord& record : container.parts) {
    const restart::PartEntry& entry = record.entry;
    IndexPlace place = place_in_tree(container.path, identity, entry.path);
    set.container_dir = place.container_dir;
    set.parts.push_back({entry.part, entry.rank, std::move(place.text), entry.mode, entry.size,
                         std::move(place.base), std::move(place.below),
                         name_of(parent_of(container.path)), container.speaker.beside.identity()});
    set.account.wrote.insert(entry.rank);
  }
  for (const restart::NativeMember& native : identity.natives) {
    const IndexPlace place = place_in_tree(container.path, identity, native.path);
    const auto there = open_native(container.path, place, native, container.speaker.owner, O_PATH);
    if (!there) {
      set.lost_natives.push_back(place.text);
      continue;
    }
    set.account.wrote.insert(native.rank);
    (there->is_aside ? set.kept_aside : set.natives).push_back(there->path);
  }
}

}  // namespace

bool is_of_one_file(const restart::SetIdentity& set) {
  return set.rank_count > 1 && set.launch != packed_launch &&
         restart::is_of_one_file(set.masked_name);
}

IndexPlace place_in_tree(const std::string& container, const restart::SetIdentity& set,
                         const std::string& path) {
  const std::string directory = parent_of(container);
  const std::string above = parent_of(directory);
  const std::string name = name_of(directory);
  const restart::ContainerName written =
      restart::container_name(set.masked_name, "mcr", set.launch, set.sequence);
  IndexPlace place{path, above, {}, name};
  // Where files were renamed before their commit, or lie further below, paths are absolute.
  if (path.starts_with('/')) {
    const std::string root = restart::real_path(above);
    const bool is_below = path.starts_with(root == "/" ? root : root + "/");
    const std::string below = is_below ? path.substr(root == "/" ? 1 : root.size() + 1)
                                       : restart::path_tail(path, written.depth + 1);
    if (restart::is_plain_path(below)) place.below = below;
    return place;
  }
  std::string tail = path;
  if (same_directory(written.base, above)) {
    place.text = written.base;
  } else if (const std::string sibling = name_of(written.base);
             restart::is_plain_path(sibling) &&
             same_directory(written.base, above + "/" + sibling)) {
    place.text = written.base;  // container_dir=../mcr
    place.container_dir = "../" + name;
    tail = sibling + "/" + tail;
  } else {
    place.text = above;  // the whole tree was moved
  }
  const std::string shown = place.container_dir == name ? tail : tail.substr(tail.find('/') + 1);
  place.text = (place.text == "/" ? "/" : place.text + "/") + shown;
  if (restart::is_plain_path(tail)) place.below = tail;
  return place;
}

Result<File> StoredPart::open() const {
  if (below.empty()) {
    errno = EXDEV;
    return restart::system_error("is not looked at, because it leads out of its directory:", path);
  }
  const File home = MCR_TRY(open_base(O_PATH | O_DIRECTORY));
  return restart::open_beneath(home.descriptor(), below, O_RDONLY);
}

Result<File> StoredPart::open_base(int flags) const {
  return open_above(base, containers, containers_identity, flags);
}

Result<OpenNative> open_native(const std::string& container, const IndexPlace& place,
                               const restart::NativeMember& native, uid_t owner, int flags) {
  const auto is_it = [&](const Result<File>& file) {
    const auto status = file ? file->status() : Result<struct stat>(file.error());
    return status && S_ISREG(status->st_mode) && status->st_uid == owner &&
           status->st_ino == native.inode &&
           static_cast<std::uint64_t>(status->st_size) == native.size;
  };
  const auto base = File::open(AT_FDCWD, place.base, O_PATH | O_DIRECTORY);
  if (base && !place.below.empty()) {
    auto file = restart::open_beneath(base->descriptor(), place.below, flags);
    if (is_it(file)) return OpenNative{*std::move(file), place.text, false};
  }
  std::string aside = restart::place_of_native(parent_of(container), native, {}, owner);
  if (!aside.empty()) {
    auto file = File::open(AT_FDCWD, aside, flags | O_NOFOLLOW | O_NONBLOCK);
    if (is_it(file)) return OpenNative{*std::move(file), std::move(aside), true};
  }
  return Error{Cause::damaged, place.text + ", a native file of the set (rank " +
                                   std::to_string(native.rank) + "), was replaced or removed"};
}

std::string name_prefix_of(const restart::SetIdentity& set) {
  return restart::container_name(set.masked_name, "mcr", set.launch, set.sequence).prefix;
}

namespace {

struct stat status_of(const Result<std::shared_ptr<restart::ContainerReader>>& reader,
                      const std::string& path) {
  struct stat status {};
  const auto open = reader ? (*reader)->status() : Result<struct stat>(reader.error());
  if (open) return *open;
  (void)::lstat(path.c_str(), &status);
  return status;
}

}  // namespace

std::vector<StoredSet> stored_sets(const std::vector<std::string>& containers,
                                   std::vector<std::string>& unreadable) {
  // A neighbour's container is none of another's set, whatever it says, but where both could have
  // exchanged each other's files.
  using Key = std::pair<SetName, uid_t>;
  std::map<Key, StoredSet> sets;
  std::map<Key, std::vector<std::string>> accounts;  // containers without parts
  // By prefix and owner: a set of which one container is damaged.
  std::map<std::pair<std::string, uid_t>, std::string> damage;
  std::map<std::string, restart::Beside> known;  // by directory
  for (const std::string& path : containers) {
    const std::string directory = parent_of(path);
    if (!known.contains(directory)) known[directory] = restart::Beside::of(directory);
    const restart::Beside& beside = known[directory];
    const auto reader = restart::ContainerReader::open(AT_FDCWD, path);
    // Of the very file that is read: the name may lead to another one by now.
    const struct stat own = status_of(reader, path);
    const uid_t voice = beside.voice(own.st_uid);
    const auto parts = reader ? (*reader)->parts()
                              : Result<const std::vector<restart::PartRecord>*>(reader.error());
    if (!parts) {
      unreadable.push_back(parts.error().message);
      damage.emplace(std::pair(prefix_of(path), voice), parts.error().message);
      continue;
    }
    const restart::SetIdentity& identity = (*reader)->set();
    const Speaker speaker{own.st_uid, own.st_gid, beside};
    const StoredContainer container{path, speaker, **parts, static_cast<std::uint64_t>(own.st_size),
                                    FileIdentity(own)};
    if (identity.bundled.empty()) {
      const Key key{name_of_set(identity), voice};
      add_container(sets[key], identity, prefix_of(path), container, accounts[key]);
      continue;
    }
    for (std::size_t i = 0; i < container.parts.size(); ++i) {
      const restart::SetIdentity one = restart::set_of_part(identity, i);
      const Key key{name_of_set(one), voice};
      sets[key].is_bundled = true;
      add_container(sets[key], one, parent_of(path) + "/" + name_prefix_of(one),
                    {path,
                     speaker,
                     {container.parts[i]},
                     container.bytes / container.parts.size(),
                     container.file},
                    accounts[key]);
    }
  }
  std::vector<StoredSet> all;
  for (auto& [key, set] : sets) {
    set.containers.insert(set.containers.end(), accounts[key].begin(), accounts[key].end());
    if (const auto found = damage.find(std::pair(set.prefix, key.second)); found != damage.end()) {
      set.damaged.push_back(found->second);
      set.is_unreadable = true;
    }
    set.wholeness = wholeness(set.account);
    for (const std::string& path : set.lost_natives)
      set.damaged.push_back(path + ", a native file of the set, was replaced or removed");
    if (!set.damaged.empty() && set.wholeness == Wholeness::whole)
      set.wholeness = Wholeness::unknown;
    all.push_back(std::move(set));
  }
  follow_sequences(all);
  std::sort(all.begin(), all.end(), is_older);
  return all;
}

const StoredSet* newest_whole(const std::vector<StoredSet>& sets) {
  const StoredSet* newest = nullptr;
  for (const StoredSet& set : sets) {
    if (set.wholeness == Wholeness::whole && !set.is_of_one_file) newest = &set;
  }
  return newest;
}

Replacements::Replacements(const std::vector<StoredSet>& sets) {
  const auto offer = [](const StoredSet*& newest, const StoredSet& set) {
    if (newest == nullptr || is_older(*newest, set)) newest = &set;
  };
  for (const StoredSet& set : sets) {
    if (set.wholeness != Wholeness::whole) continue;
    offer(newest_of_name_[{set.name.masked_name, set.owner}], set);
    offer(newest_of_pattern_[{restart::pattern_of(set.name.masked_name), set.owner}], set);
  }
}

const StoredSet* Replacements::of(const StoredSet& set, bool of_same_pattern) const {
  // Only the owner of a set, or root, replaces it.
  const auto newer = [&](const Newest& newest, const std::string& name) {
    const StoredSet* best = nullptr;
    for (const uid_t owner : {set.owner, uid_t{0}}) {
      const auto found = newest.find({name, owner});
      if (found == newest.end() || !is_older(set, *found->second)) continue;
      if (best == nullptr || is_older(*best, *found->second)) best = found->second;
    }
    return best;
  };
  const bool is_deleted = of_same_pattern && !set.parts.empty() &&
                          std::all_of(set.parts.begin(), set.parts.end(), is_path_free);
  const StoredSet* const same_name = newer(newest_of_name_, set.name.masked_name);
  if (!is_deleted) return same_name;
  const StoredSet* const same_pattern =
      newer(newest_of_pattern_, restart::pattern_of(set.name.masked_name));
  return same_pattern != nullptr ? same_pattern : same_name;
}

std::vector<GivenUp> without_shared_containers(std::vector<GivenUp> orders,
                                               const std::vector<StoredSet>& sets) {
  std::map<std::string, std::size_t> stays;  // by bundle: sets of it that are not to go
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

Result<std::vector<GivenUp>> superseded(const std::vector<StoredSet>& sets) {
  std::map<std::string, std::set<PartId>> named;  // by base
  std::map<std::string, restart::StubLinks> links;
  std::vector<GivenUp> found;
  const Replacements replacements(sets);
  for (const StoredSet& set : sets) {
    if (set.is_unreadable) continue;
    const std::string directory = directory_of(set);
    const std::string base = parent_of(directory);
    const auto above = [&] {
      return open_above(base, name_of(directory), set.beside.identity(), O_RDONLY | O_DIRECTORY);
    };
    if (!links.contains(directory)) {
      const File home = MCR_TRY(above());
      const File containers =
          MCR_TRY(File::open(home.descriptor(), name_of(directory), O_PATH | O_DIRECTORY));
      links.emplace(directory, MCR_TRY(restart::StubLinks::list(containers)));
    }
    const restart::StubLinks& here = links.at(directory);
    const bool is_certain = is_given_up(set, here);
    const StoredSet* const replacement = replacements.of(set, is_certain);
    if (replacement == nullptr) continue;
    if (!is_certain && !named.contains(base))
      named[base] = MCR_TRY(parts_of_stubs_below(MCR_TRY(above()), base));
    const bool in_use =
        !is_certain && std::any_of(set.parts.begin(), set.parts.end(), [&](const auto& part) {
          return named[base].contains(part.part) ||
                 here.fate(part.part, set.owner) == restart::StubLinks::Fate::in_use;
        });
    if (!in_use) found.push_back({&set, replacement});
  }
  return without_shared_containers(std::move(found), sets);
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
  if (FileIdentity(there) != read) return is_exchanged(path);
  if (restart::system_calls().unlinkat(home.descriptor(), name.c_str(), 0) != 0 && errno != ENOENT)
    return restart::system_error("cannot remove", path);
  return {};
}

}  // namespace

Result<void> remove_set(const GivenUp& order) {
  const StoredSet& set = *order.set;
  const std::string directory = directory_of(set);
  const File home = MCR_TRY(restart::open_own_containers(directory));
  if (FileIdentity(MCR_TRY(home.status())) != set.beside.identity()) return is_exchanged(directory);
  restart::note_removed_set(home, name_of(set.prefix),
                            "removed: the program has deleted or overwritten its files, and " +
                                name_of(order.replacement->prefix) +
                                "* is whole; a copy of a stub keeps nothing alive");
  for (const std::string& path : set.containers) {
    // Those of a set whose directory was copied are in two: the next call finds the others.
    if (parent_of(path) == directory) MCR_TRY(remove_container(home, path, set.read.at(path)));
  }
  const auto links = MCR_TRY(restart::StubLinks::list(home));
  for (const StoredPart& part : set.parts) links.remove(part.part);
  return {};
}

}  // namespace mcr::aggregation
