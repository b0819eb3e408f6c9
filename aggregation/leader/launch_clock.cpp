// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/launch_clock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "aggregation/commit/commit_options.hpp"
#include "aggregation/commit/held_containers.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/late_copies.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/look.hpp"
#include "restart/sets/stored_sets.hpp"

namespace mcr::aggregation {

namespace {

/// Added to the difference of the clocks, because parts are not found in the order of their begins:
/// a part that is found later may have been begun earlier by up to this much.
constexpr std::uint64_t begun_together_ns = 1'000'000'000;
/// A later time counts as this one (the year 2408), so that no corrected time exceeds the largest
/// number. Clocks of Linux end in the year 2232.
constexpr std::uint64_t latest_order = std::uint64_t{3} << 62;
/// How many containers of each launch are read: of those that were written last, and of those that the file system has
/// changed last. The first have the newest sets, because sets are committed in about the order in which they were begun; but a copy
/// can have any time of writing.
constexpr std::size_t looked_at_of_each_launch = 8;
/// Containers of this many launches of this user are read, and of as many launches of other users,
/// newest first: a directory may hold thousands of launches.
constexpr std::size_t launches_looked_at = 64;
/// How many further containers of this user and of root are read, supplements too: copied ones may say anything about their times.
constexpr std::size_t further_ones_looked_at = 1024;

/// What the sets in a directory of containers tell about the clock.
struct SetsThere {
  std::uint64_t newest_before = 0;  ///< order of the newest set of another launch
  std::uint64_t own_behind = 0;     ///< what was added to the times of this launch's own sets
};

/// A launch as the names of containers say. Other users' containers are kept apart: they may have any
/// names and times, and must not displace this user's.
using NamedLaunch = std::pair<bool, std::string>;  // true: of another user

struct Listed {
  std::string name;
  NamedLaunch launch;
  std::uint64_t written_ns = 0;  ///< as copies may keep it
  std::uint64_t changed_ns = 0;  ///< as the file system knows it
  bool is_supplement = false;
};

/// True for this user and for root.
bool is_own(uid_t author) { return restart::is_believed(author, ::geteuid()); }

/// Lists the containers of trusted users.
Result<std::vector<Listed>> list(const restart::File& home, const restart::Beside& beside) {
  std::vector<Listed> containers;
  std::set<restart::FileIdentity> seen;  // a file may have many names
  const auto believes = [&](uid_t writer) { return beside.believes(writer, ::geteuid()); };
  for (std::string& name : MCR_TRY(restart::list_containers(home.descriptor(), believes))) {
    const auto parsed = restart::parse_container_name(name);
    const auto bundle = restart::parse_bundle_name(name);
    struct stat status {};
    if ((!parsed && !bundle) ||
        restart::system_calls().fstatat(home.descriptor(), name.c_str(), &status,
                                        AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    // Containers of users who are not believed here do not count.
    const uid_t author = beside.author(status);
    if (!believes(author) || !seen.emplace(status).second) continue;
    containers.push_back({std::move(name),
                          {!is_own(author), bundle ? bundle->launch : parsed->launch},
                          restart::modified_ns(status),
                          restart::changed_ns(status),
                          parsed && parsed->supplement});
  }
  return containers;
}

/// Adds the names of the containers to read, of those for which `time` is latest. Leaves supplements out, because a supplement is newer
/// than its set.
void add_newest(const std::vector<Listed>& containers, std::uint64_t Listed::*time,
                const std::string& launch, std::set<std::string>& names) {
  std::map<NamedLaunch, std::vector<const Listed*>> by_launch;
  for (const Listed& it : containers)
    if (!it.is_supplement) by_launch[it.launch].push_back(&it);
  const auto is_newer = [&](const Listed* a, const Listed* b) {
    return std::tie(a->*time, a->name) > std::tie(b->*time, b->name);
  };
  std::vector<const Listed*> newest;  // of each launch
  for (auto& [of, all] : by_launch) {
    std::sort(all.begin(), all.end(), is_newer);
    if (all.size() > looked_at_of_each_launch) all.resize(looked_at_of_each_launch);
    newest.push_back(all.front());
  }
  std::sort(newest.begin(), newest.end(), is_newer);
  std::map<bool, std::size_t> looked_at;  // by: of another user
  for (const Listed* it : newest) {
    if (it->launch != NamedLaunch{false, launch} &&
        ++looked_at[it->launch.first] > launches_looked_at)
      continue;
    for (const Listed* container : by_launch.at(it->launch)) names.insert(container->name);
  }
}

/// Returns the names of the containers to read.
std::set<std::string> names_to_read(std::vector<Listed> containers, const std::string& launch) {
  std::set<std::string> names;
  add_newest(containers, &Listed::written_ns, launch, names);
  add_newest(containers, &Listed::changed_ns, launch, names);
  std::erase_if(containers,
                [&](const Listed& it) { return it.launch.first || names.contains(it.name); });
  std::sort(containers.begin(), containers.end(),
            [](const Listed& a, const Listed& b) { return a.changed_ns > b.changed_ns; });
  if (containers.size() > further_ones_looked_at) containers.resize(further_ones_looked_at);
  for (Listed& it : containers) names.insert(std::move(it.name));
  return names;
}

/// What one container tells a leader of a launch.
struct Told {
  restart::FileOrigin origin;
  restart::Maker maker;
  std::uint64_t changed_ns = 0;
  bool is_of_launch = false;
  struct Times {
    std::uint64_t order_ns = 0;
    std::uint64_t begun_ns = 0;
  };
  std::vector<Times> sets;
};

Told told_by(const restart::ContainerReader& container, const restart::Maker& maker,
             const struct stat& status, const std::string& launch) {
  const restart::SetIdentity& whole = container.set();
  Told told{restart::origin_by(container.origin(), status, maker.author),
            maker,
            restart::changed_ns(status),
            whole.launch == launch,
            {}};
  for (std::size_t i = 0; i < std::max<std::size_t>(whole.bundled.size(), 1); ++i) {
    const restart::SetIdentity set = restart::set_of_part(whole, i);
    told.sets.push_back({set.order(), set.begun_ns});
  }
  return told;
}

/// Adds to `there` what the container tells.
///
/// This user's own sets count, within the limits that all readers apply (ContainerReader::set(), Maker). Another user may have
/// written any time, so the set's time is limited to the container's change time. The file system sets that time, and no user
/// can set it into the future. This user's next launch then exceeds the time, too. Where own sets are limited here, readers limit
/// them in the same way (add_order()).
void add_times(const Told& told, restart::LateCopies& late_copies, SetsThere& there) {
  const bool is_own_container = is_own(told.maker.author);
  if (told.is_of_launch && !is_own_container)
    return;  // each user's leader corrects that user's sets
  const restart::Maker maker = told.maker.of_copy(late_copies.latest_ns(told.origin));
  const std::uint64_t latest =
      is_own_container ? std::min(maker.latest_ns, latest_order) : told.changed_ns;
  for (const Told::Times& set : told.sets) {
    const std::uint64_t order = std::min(set.order_ns, latest);
    if (!told.is_of_launch) {
      there.newest_before = std::max(there.newest_before, order);
    } else if (set.begun_ns != 0 && order > set.begun_ns) {
      there.own_behind = std::max(there.own_behind, order - set.begun_ns);
    }
  }
}

/// Reads what the containers in a directory tell a leader of `launch`.
Result<SetsThere> times_in_directory(const std::string& path, const std::string& launch) {
  SetsThere there;
  const auto held = HeldContainers::open(path, LinksToContainers::trusted);
  if (!held) {
    if (held.error().system_error == ENOENT) return there;
    return held.error();
  }
  const auto home = held->open_to_list();
  if (!home) return home.error();
  const restart::Beside& beside = held->beside();
  std::vector<Told> all;
  restart::LateCopies late_copies;
  for (const std::string& name : names_to_read(MCR_TRY(list(*home, beside)), launch)) {
    const auto reader = restart::ContainerReader::open(home->descriptor(), name);
    const auto status = reader ? (*reader)->status() : Result<struct stat>(reader.error());
    if (!status) continue;
    const restart::Maker maker = restart::maker_of(beside, *status);
    if (!beside.believes(maker.author, ::geteuid())) continue;
    if (is_own(maker.author))
      late_copies.add(restart::origin_by((*reader)->origin(), *status, maker.author),
                      restart::newest_order((*reader)->set()));
    all.push_back(told_by(**reader, maker, *status, launch));
  }
  for (const Told& told : all) add_times(told, late_copies, there);
  return there;
}

std::optional<restart::FileIdentity> identity_of(const std::string& path) {
  struct stat status {};
  if (restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) != 0) return {};
  return restart::FileIdentity(status);
}

}  // namespace

void LaunchClock::remember(const restart::PartBegin& begin) {
  if (!directory_.is_of(begin.launch)) return;  // the part amends a set of an earlier launch
  const std::lock_guard lock(mutex_);
  for (const std::string& name : begin.masked_names) {
    const std::string directory = container_name_of(begin, name).directory;
    const auto [place, is_new] =
        known_.try_emplace(directory, Begun{begin.launch, begin.begin_ns, {}});
    place->second.begin_ns = std::min(place->second.begin_ns, begin.begin_ns);
    if (is_new) to_look_at_.insert(directory);
  }
}

bool LaunchClock::has_news() const {
  const std::lock_guard lock(mutex_);
  return !to_look_at_.empty();
}

void LaunchClock::look() {
  std::map<std::string, Begun> directories;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& path : to_look_at_) directories.emplace(path, known_.at(path));
    to_look_at_.clear();
  }
  for (const auto& [path, begun] : directories) look_at(path, begun);
}

void LaunchClock::look_if_replaced(const std::string& directory) {
  const std::optional<restart::FileIdentity> present = identity_of(directory);
  Begun begun;
  {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(directory);
    // The first commit makes the directory.
    if (known == known_.end() || to_look_at_.contains(directory) || !present ||
        known->second.searched == present)
      return;
    begun = known->second;
  }
  look_at(directory, begun);
}

void LaunchClock::look_at(const std::string& path, const Begun& begun) {
  {
    const std::optional<restart::FileIdentity> present = identity_of(path);
    const std::lock_guard lock(mutex_);
    known_.at(path).searched = present;
  }
  const auto there = times_in_directory(path, begun.launch);
  if (!there) {
    restart::log_warning(
        "cannot read the sets of other launches in " + path +
        ", so a restart may take an older set for the newest one: " + there.error().message);
    return;
  }
  std::uint64_t behind = there->own_behind;
  if (there->newest_before >= begun.begin_ns + behind)
    behind = there->newest_before + begun_together_ns - begun.begin_ns;
  if (behind <= directory_.clock_behind_ns()) return;
  if (const auto written = directory_.write_clock_behind(behind); !written) {
    restart::log_warning(
        "this node's clock is behind, but the correction could not be recorded. Older sets in " +
        path + " may count as newer than this launch's: " + written.error().message);
    return;
  }
  restart::log_summary("this node's clock is " + std::to_string(behind / 1'000'000) +
                       " ms behind the time of an older set in " + path +
                       "; mcr adds this difference to the times of this launch's sets");
}

}  // namespace mcr::aggregation
