// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/retention.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "restart/container_name.hpp"
#include "restart/container_reader.hpp"
#include "restart/stub_file.hpp"

namespace mcr::aggregation {

namespace fs = std::filesystem;

namespace {

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

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

bool is_still_there(const restart::NativeMember& native, const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_ino == native.inode &&
         static_cast<std::uint64_t>(status.st_size) == native.size;
}

/// A dead launch's leftovers may have been committed after the sets of the next one: what counts
/// is when a set was begun.
bool is_older(const StoredSet& a, const StoredSet& b) {
  return std::pair(a.begun_ns, a.name.sequence) < std::pair(b.begun_ns, b.name.sequence);
}

/// Ids of all stubs below a directory.
std::set<PartId> parts_of_stubs_below(const std::string& base) {
  std::set<PartId> parts;
  std::error_code problem;
  for (auto entry = fs::recursive_directory_iterator(
           base, fs::directory_options::skip_permission_denied, problem);
       !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    if (!entry->is_regular_file(problem) || entry->is_symlink(problem)) continue;
    const auto file =
        restart::File::open(AT_FDCWD, entry->path(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file) continue;
    if (!restart::is_stub_file(*file)) continue;
    if (const auto stub = restart::read_stub_file(*file)) parts.insert(stub->part);
  }
  return parts;
}

}  // namespace

std::string base_of(const std::string& container, const restart::SetIdentity& set) {
  const std::string directory = parent_of(container);
  const std::string recorded =
      restart::container_name(set.masked_name, "mcr", set.launch, set.sequence).base;
  const std::string name = directory.substr(directory.rfind('/') + 1);
  for (const std::string& relative : {name, "../" + name}) {
    if (same_directory(recorded + "/" + relative, directory)) return recorded;
  }
  return parent_of(directory);
}

std::vector<StoredSet> stored_sets(const std::vector<std::string>& containers,
                                   std::vector<std::string>& unreadable) {
  std::map<SetName, StoredSet> sets;
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
    set.containers.push_back(path);
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
      if (is_still_there(native, below(native.path))) {
        set.account.wrote.insert(native.rank);
        set.natives.push_back(below(native.path));
      } else {
        set.lost_natives.push_back(below(native.path));
      }
    }
  }
  std::vector<StoredSet> all;
  for (auto& [name, set] : sets) {
    if (const auto found = damage.find(set.prefix); found != damage.end())
      set.damaged.push_back(found->second);
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

std::vector<const StoredSet*> superseded(const std::vector<StoredSet>& sets) {
  std::map<std::string, std::set<PartId>> named;  // by base
  std::vector<const StoredSet*> found;
  for (const StoredSet& set : sets) {
    const bool has_newer = std::any_of(sets.begin(), sets.end(), [&](const StoredSet& other) {
      return other.name.masked_name == set.name.masked_name && is_older(set, other) &&
             other.wholeness == Wholeness::whole;
    });
    if (!has_newer || !set.damaged.empty()) continue;
    const std::string base = parent_of(parent_of(set.prefix));
    if (!named.contains(base)) named[base] = parts_of_stubs_below(base);
    const bool in_use =
        std::any_of(set.parts.begin(), set.parts.end(),
                    [&](const StoredPart& part) { return named[base].contains(part.part); });
    if (!in_use) found.push_back(&set);
  }
  return found;
}

}  // namespace mcr::aggregation
