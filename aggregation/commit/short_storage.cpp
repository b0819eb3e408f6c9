// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/short_storage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "aggregation/commit/retention.hpp"
#include "aggregation/commit/set_files.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/decision.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/sets/set_logs.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;

namespace {

constexpr std::uint64_t sets_of_room = 4;
constexpr std::ptrdiff_t sets_to_keep = 3;
/// A set takes an inode for the container and for each stub, and the leader may still hold the stubs
/// that it replaced. A file system without a limit on inodes says that it has none (`f_files`).
constexpr std::uint64_t inodes_of_set(std::size_t files) { return 2 * files + 1; }
/// After storage was full, ranks soon wait (lag=) and no longer change the directory, so that a look
/// below it succeeds.
constexpr int looks_when_full = 50;
constexpr auto pause_between_looks = std::chrono::milliseconds(100);
/// A look for room after a commit, and a count of bytes that took longer than `cheap_ns`, are followed by a pause of
/// this many times their duration.
constexpr std::uint64_t cheap_ns = 1'000'000;
constexpr std::uint64_t pause_per_cost = 20;

constexpr const char* log_of_made_stubs = "set-recovered.log";

bool has_made_stubs(const File& containers) {
  return ::faccessat(containers.descriptor(), log_of_made_stubs, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/// The sets whose containers lie in a directory, oldest first, and the decisions there.
class SetsHere {
 public:
  static Result<SetsHere> read(const File& home, const std::string& directory) {
    SetsHere here;
    std::vector<std::string> containers;
    const auto names =
        MCR_TRY(restart::list_fitting_names(home.descriptor(), ".", [](const std::string& name) {
          return restart::is_container_name(name) || restart::prefix_of_decision(name);
        }));
    for (const std::string& name : names) {
      struct stat status {};
      if (restart::prefix_of_decision(name)) {
        if (const auto decision = restart::find_decision(directory, name))
          here.decisions_.push_back(*decision);
      } else if (restart::system_calls().fstatat(home.descriptor(), name.c_str(), &status,
                                                 AT_SYMLINK_NOFOLLOW) == 0 &&
                 S_ISREG(status.st_mode)) {
        containers.push_back(directory + "/" + name);
      }
    }
    std::vector<Error> unreadable;
    here.sets_ = stored_sets(containers, unreadable);
    const FileIdentity identity(MCR_TRY(home.status()));
    std::erase_if(here.sets_,
                  [&](const StoredSet& set) { return set.beside.identity() != identity; });
    return here;
  }

  /// Returns the sets that may go, oldest first, if no copy of their stubs exists.
  [[nodiscard]] std::vector<GivenUp> superseded(CommittedStubs& stubs) const {
    std::vector<GivenUp> found;
    const Replacements replacements(sets_);
    for (const StoredSet& set : sets_) {
      if (!is_plain(set) || is_given_by_decision(set) || !has_enough_newer(set)) continue;
      std::vector<PartId> parts;
      for (const StoredPart& part : set.parts) parts.push_back(part.part);
      if (!stubs.is_given_up(set.name, parts)) continue;
      if (const StoredSet* const newer = replacements.of(set, true)) found.push_back({&set, newer});
    }
    return found;
  }

 private:
  static bool is_plain(const StoredSet& set) {
    return set.owner == ::geteuid() && !set.is_unreadable && !set.is_bundled &&
           set.damaged.empty() && set.natives.empty() && set.kept_aside.empty() &&
           set.lost_natives.empty() && !set.parts.empty() && set.beside.is_no_more_open();
  }

  [[nodiscard]] bool is_given_by_decision(const StoredSet& set) const {
    return std::any_of(decisions_.begin(), decisions_.end(), [&](const auto& decision) {
      return decision.given.launch == set.name.launch &&
             decision.given.sequence == set.name.sequence;
    });
  }

  [[nodiscard]] bool has_enough_newer(const StoredSet& set) const {
    const std::string pattern = restart::pattern_of(set.name.masked_name);
    return std::count_if(sets_.begin(), sets_.end(), [&](const StoredSet& other) {
             return other.wholeness == Wholeness::whole && other.owner == set.owner &&
                    is_older(set, other) && restart::pattern_of(other.name.masked_name) == pattern;
           }) >= sets_to_keep;
  }

  std::vector<StoredSet> sets_;
  std::vector<restart::Decision> decisions_;
};

/// Looks again while files are being moved.
Result<std::set<PartId>> stubs_beside(const StoredSet& set, int looks) {
  for (int look = 1;; ++look) {
    auto found = stubs_below_base_of(set);
    if (found || found.error().system_error != EAGAIN || look == looks) return found;
    std::this_thread::sleep_for(pause_between_looks);
  }
}

}  // namespace

void note_made_stub(const File& containers, const std::string& path) {
  (void)restart::add_to_log(containers, log_of_made_stubs, path).has_value();
}

bool ShortStorage::make_room(const std::string& directory) {
  return remove_oldest(directory, {1, 1}, looks_when_full);
}

void ShortStorage::committed(const CommittedStubs::Container& container, const StubHandles& stubs,
                             const std::string& directory) {
  stubs_.add(container, stubs);
  const std::uint64_t begin_ns = restart::clock_ns(CLOCK_MONOTONIC);
  if (begin_ns < next_count_ns_) return;
  const CommittedStubs::Bytes bytes = stubs_.bytes();
  summary_.superseded(bytes.given_up, bytes.others, restart::parent_of(directory));
  const std::uint64_t end_ns = restart::clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t cost_ns = end_ns - begin_ns;
  if (cost_ns > cheap_ns) next_count_ns_ = end_ns + pause_per_cost * cost_ns;
}

void ShortStorage::keep_room(const std::string& directory, const SetName& set, std::size_t files) {
  struct statvfs space {};
  const auto home = File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (!home || restart::system_calls().fstatvfs(home->descriptor(), &space) != 0) return;
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  const std::uint64_t wanted = sets_of_room * stubs_.bytes_of(set);
  const std::uint64_t wanted_inodes = space.f_files == 0 ? 0 : sets_of_room * inodes_of_set(files);
  const std::uint64_t begin_ms = restart::monotonic_ms();
  const Shortage shortage{wanted - std::min(wanted, free_bytes),
                          wanted_inodes - std::min<std::uint64_t>(wanted_inodes, space.f_favail)};
  if ((shortage.bytes == 0 && shortage.inodes == 0) || begin_ms < pause_end_ms_) return;
  remove_oldest(directory, shortage, 1);
  const std::uint64_t end_ms = restart::monotonic_ms();
  pause_end_ms_ = end_ms + pause_per_cost * (end_ms - begin_ms);
}

bool ShortStorage::remove_oldest(const std::string& directory, const Shortage& shortage,
                                 int looks) {
  std::uint64_t sets = 0;  // each frees at least one inode: that of its container
  std::uint64_t freed = 0;
  const auto removed = [&]() -> Result<void> {
    const File home = MCR_TRY(File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY));
    if (!stubs_.has_given_up(FileIdentity(MCR_TRY(home.status())))) return {};
    const SetsHere here = MCR_TRY(SetsHere::read(home, directory));
    const std::vector<GivenUp> orders = here.superseded(stubs_);
    // Asked last: a command notes a new stub before it removes the old one.
    if (orders.empty() || has_made_stubs(home)) return {};
    // All sets in a directory of containers have the same base and, here, the same owner.
    const std::set<PartId> named = MCR_TRY(stubs_beside(*orders.front().set, looks));
    MCR_TRY(restart::sync_directory(home.descriptor()));
    for (const GivenUp& order : orders) {
      const StoredSet& set = *order.set;
      const bool is_named = std::any_of(set.parts.begin(), set.parts.end(), [&](const auto& part) {
        return named.contains(part.part);
      });
      if (is_named) continue;
      if (freed >= shortage.bytes && sets >= shortage.inodes) break;
      MCR_TRY(remove_set(order));
      restart::log_summary("removed " + set.prefix +
                           "*, because storage runs short (gc=auto): the program has deleted or "
                           "overwritten its files, and a newer set is whole");
      watch_.forget(set.prefix);
      stubs_.forget(set.name);
      freed += set.container_bytes;
      ++sets;
    }
    return {};
  }();
  if (!removed)
    restart::log_warning_once("gc=auto " + removed.error().message,
                              "gc=auto removes no further set: " + removed.error().message);
  if (sets == 0) return false;
  summary_.made_room(sets, freed);
  return true;
}

}  // namespace mcr::aggregation
