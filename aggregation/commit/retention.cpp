// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/retention.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/container_name.hpp"
#include "restart/container_reader.hpp"
#include "restart/masked_name.hpp"
#include "restart/native_members.hpp"
#include "restart/removed_sets.hpp"
#include "restart/stub_file.hpp"

namespace mcr::aggregation {

namespace fs = std::filesystem;
using restart::name_of;
using restart::parent_of;

namespace {

bool same_directory(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

std::string prefix_of(const std::string& container) {
  // …launch-sequence.r0-7.h5: all but the last components after the sequence.
  const std::size_t ranks = container.rfind(".r");
  return ranks == std::string::npos ? container : container.substr(0, ranks + 1);
}

/// A dead launch's leftovers may have been committed after the sets of the next one: what counts
/// is when a set was begun.
bool is_older(const StoredSet& a, const StoredSet& b) {
  return std::pair(a.order_ns, a.name.sequence) < std::pair(b.order_ns, b.name.sequence);
}

/// Of one name within a launch the sequence decides, whatever the clock said.
bool was_written_before(const StoredSet& a, const StoredSet& b) {
  const bool comparable =
      a.name.launch == b.name.launch && a.name.masked_name == b.name.masked_name;
  return comparable ? a.name.sequence < b.name.sequence : is_older(a, b);
}

/// Ids of all stubs below a directory. An error where not all of it could be looked at.
Result<std::set<PartId>> parts_of_stubs_below(const std::string& base) {
  std::set<PartId> parts;
  std::error_code problem;
  const auto failed = [&](const std::string& path) {
    return Error{Cause::system, path + " cannot be looked at: " + problem.message() +
                                    ", so nobody knows which stubs lie there"};
  };
  fs::recursive_directory_iterator entry(base, problem);
  for (; !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    struct stat status {};
    if (::lstat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    // Our own links are names that do not count.
    if (entry->path().parent_path().filename() == restart::stub_links_directory) continue;
    const auto file =
        restart::File::open(AT_FDCWD, entry->path(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file) {
      if (file.error().system_error == ENOENT) continue;
      return file.error();
    }
    if (!restart::is_stub_file(*file)) continue;
    if (const auto stub = restart::read_stub_file(*file)) parts.insert(stub->part);
  }
  if (problem) return failed(base);
  return parts;
}

/// True where the stub of that part, or a copy of it, lies at its path.
bool lies_at_its_path(const StoredPart& part) {
  const auto file = restart::File::open(AT_FDCWD, part.path, O_RDONLY | O_NONBLOCK);
  if (!file) return file.error().system_error != ENOENT && file.error().system_error != ENOTDIR;
  if (!restart::is_stub_file(*file)) return false;
  const auto stub = restart::read_stub_file(*file);
  return !stub || stub->part == part.part;
}

bool is_path_free(const StoredPart& part) {
  struct stat status {};
  return ::lstat(part.path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

bool is_given_up(const StoredSet& set, const restart::StubLinks& links) {
  if (set.is_unreadable || !set.natives.empty()) return false;
  return std::all_of(set.parts.begin(), set.parts.end(), [&](const StoredPart& part) {
    return links.fate(part.part) == restart::StubLinks::Fate::given_up && !lies_at_its_path(part);
  });
}

std::string directory_of(const StoredSet& set) { return parent_of(set.prefix); }

}  // namespace

std::string base_of(const std::string& container, const restart::SetIdentity& set) {
  const std::string directory = parent_of(container);
  const std::string recorded =
      restart::container_name(set.masked_name, "mcr", set.launch, set.sequence).base;
  const std::string name = name_of(directory);
  for (const std::string& relative : {name, "../" + name}) {
    if (same_directory(recorded + "/" + relative, directory)) return recorded;
  }
  return parent_of(directory);
}

std::vector<StoredSet> stored_sets(const std::vector<std::string>& containers,
                                   std::vector<std::string>& unreadable) {
  std::map<SetName, StoredSet> sets;
  std::map<SetName, std::vector<std::string>> accounts;  // containers without parts
  std::map<std::string, std::string> damage;  // by prefix: a set of which one container is damaged
  for (const std::string& path : containers) {
    const auto reader = restart::ContainerReader::open(AT_FDCWD, path);
    const auto parts = reader ? (*reader)->parts()
                              : Result<const std::vector<restart::PartRecord>*>(reader.error());
    if (!parts) {
      unreadable.push_back(parts.error().message);
      damage.emplace(prefix_of(path), parts.error().message);
      continue;
    }
    const restart::SetIdentity& identity = (*reader)->set();
    const SetName name{identity.launch, identity.masked_name, identity.sequence};
    StoredSet& set = sets[name];
    set.name = name;
    set.rank_count = std::max(set.rank_count, identity.rank_count);
    set.prefix = prefix_of(path);
    ((*parts)->empty() ? accounts[name] : set.containers).push_back(path);
    set.created_ns = std::max(set.created_ns, identity.created_ns);
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0)
      set.container_bytes += static_cast<std::uint64_t>(status.st_size);
    set.account.rank_count = set.rank_count;
    set.account.passed.insert(identity.passed_ranks.begin(), identity.passed_ranks.end());
    set.account.failed.insert(identity.failed_ranks.begin(), identity.failed_ranks.end());
    set.account.drifted |= identity.drifted;
    const std::uint64_t begun = identity.begun_ns != 0 ? identity.begun_ns : identity.created_ns;
    set.begun_ns = set.begun_ns == 0 ? begun : std::min(set.begun_ns, begun);
    set.order_ns = set.order_ns == 0 ? identity.order() : std::min(set.order_ns, identity.order());
    const std::string base = base_of(path, identity);
    const auto below = [&](const std::string& path) {
      return path.starts_with('/') ? path : base + "/" + path;
    };
    for (const restart::PartRecord& record : **parts) {
      const restart::PartEntry& entry = record.entry;
      set.parts.push_back({entry.part, entry.rank, below(entry.path), entry.mode, entry.size});
      set.account.wrote.insert(entry.rank);
    }
    for (const restart::NativeMember& native : identity.natives) {
      const std::string own_path = below(native.path);
      const std::string place = restart::place_of_native(parent_of(path), native, own_path);
      if (place.empty()) {
        set.lost_natives.push_back(own_path);
        continue;
      }
      set.account.wrote.insert(native.rank);
      (place == own_path ? set.natives : set.kept_aside).push_back(place);
    }
  }
  std::vector<StoredSet> all;
  for (auto& [name, set] : sets) {
    set.containers.insert(set.containers.end(), accounts[name].begin(), accounts[name].end());
    if (const auto found = damage.find(set.prefix); found != damage.end()) {
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
  std::sort(all.begin(), all.end(),
            [](const StoredSet& a, const StoredSet& b) { return is_older(a, b); });
  return all;
}

const StoredSet* newest_whole(const std::vector<StoredSet>& sets) {
  const StoredSet* newest = nullptr;
  for (const StoredSet& set : sets) {
    if (set.wholeness == Wholeness::whole) newest = &set;
  }
  return newest;
}

const StoredSet* replacement_of(const StoredSet& set, const std::vector<StoredSet>& sets,
                                bool of_same_shape) {
  const bool is_deleted = of_same_shape && !set.parts.empty() &&
                          std::all_of(set.parts.begin(), set.parts.end(), is_path_free);
  const std::string shape = restart::pattern_of(set.name.masked_name);
  const StoredSet* newest = nullptr;
  for (const StoredSet& other : sets) {
    if (other.wholeness != Wholeness::whole || !was_written_before(set, other)) continue;
    const bool same_name = other.name.masked_name == set.name.masked_name;
    const bool replaces =
        same_name || (is_deleted && restart::pattern_of(other.name.masked_name) == shape);
    if (replaces && (newest == nullptr || was_written_before(*newest, other))) newest = &other;
  }
  return newest;
}

std::vector<GivenUp> given_up(const std::vector<StoredSet>& sets, const restart::StubLinks& links) {
  std::vector<GivenUp> found;
  for (const StoredSet& set : sets) {
    const StoredSet* const replacement = replacement_of(set, sets, true);
    if (replacement != nullptr && is_given_up(set, links)) found.push_back({&set, replacement});
  }
  return found;
}

Result<std::vector<GivenUp>> superseded(const std::vector<StoredSet>& sets) {
  std::map<std::string, std::set<PartId>> named;  // by base
  std::map<std::string, restart::StubLinks> links;
  std::vector<GivenUp> found;
  for (const StoredSet& set : sets) {
    if (set.is_unreadable) continue;
    const std::string directory = directory_of(set);
    if (!links.contains(directory))
      links.emplace(directory, MCR_TRY(restart::StubLinks::list(directory)));
    const restart::StubLinks& here = links.at(directory);
    const bool is_certain = is_given_up(set, here);
    const StoredSet* const replacement = replacement_of(set, sets, is_certain);
    if (replacement == nullptr) continue;
    const std::string base = parent_of(directory);
    if (!is_certain && !named.contains(base)) named[base] = MCR_TRY(parts_of_stubs_below(base));
    const bool in_use =
        !is_certain && std::any_of(set.parts.begin(), set.parts.end(), [&](const auto& part) {
          return named[base].contains(part.part) ||
                 here.fate(part.part) == restart::StubLinks::Fate::in_use;
        });
    if (!in_use) found.push_back({&set, replacement});
  }
  return found;
}

Result<void> remove_set(const GivenUp& order) {
  const StoredSet& set = *order.set;
  const std::string directory = directory_of(set);
  restart::note_removed_set(directory, name_of(set.prefix),
                            "removed: the program has deleted or overwritten its files, and " +
                                name_of(order.replacement->prefix) +
                                "* is whole; a copy of a stub keeps nothing alive");
  for (const std::string& path : set.containers) {
    if (restart::system_calls().unlinkat(AT_FDCWD, path.c_str(), 0) != 0 && errno != ENOENT)
      return restart::system_error("cannot remove", path);
  }
  const auto links = MCR_TRY(restart::StubLinks::list(directory));
  for (const StoredPart& part : set.parts) links.remove(part.part);
  return {};
}

}  // namespace mcr::aggregation
