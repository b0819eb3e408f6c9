// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/launch_clock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>
#include <vector>

#include "aggregation/commit/commit_options.hpp"
#include "aggregation/commit/held_containers.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/own_file.hpp"
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
/// How many containers of each launch are read, newest first. These have the newest sets, because
/// sets are committed in about the order in which they were begun.
constexpr std::size_t looked_at_of_each_launch = 8;
/// Containers of this many launches of this user are read, and of as many launches of other users,
/// newest first: a directory may hold thousands of launches.
constexpr std::size_t launches_looked_at = 64;
/// How many containers are read if none of them was written where it lies.
constexpr std::size_t copies_looked_at = 16'384;

/// What the sets in a directory of containers tell about the clock.
struct SetsThere {
  std::uint64_t newest_before = 0;  ///< order of the newest set of another launch
  std::uint64_t own_behind = 0;     ///< what was added to the times of this launch's own sets
  bool has_original = false;        ///< a container of this user was written where it lies
};

/// When the file system last changed the file, which copies cannot preserve; and a container's name.
using Dated = std::pair<std::uint64_t, std::string>;
/// A launch as the names of containers say. Other users' containers are kept apart: they may have any
/// names and times, and must not displace this user's.
using NamedLaunch = std::pair<bool, std::string>;  // true: of another user

/// True for this user and for root.
bool is_own(uid_t author) { return restart::is_believed(author, ::geteuid()); }

struct Containers {
  /// Without supplements: a supplement is newer than its set.
  std::map<NamedLaunch, std::vector<Dated>> by_launch;
  std::vector<Dated> all;
};

/// Lists the containers of trusted users.
Result<Containers> list_by_launch(const restart::File& home, const restart::Beside& beside) {
  Containers containers;
  std::set<restart::FileIdentity> seen;  // a file may have many names
  const auto believes = [&](uid_t writer) { return beside.believes(writer, ::geteuid()); };
  for (const std::string& name : MCR_TRY(restart::list_containers(home.descriptor(), believes))) {
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
    const Dated& dated = containers.all.emplace_back(restart::changed_ns(status), name);
    if (parsed && parsed->supplement) continue;
    containers.by_launch[{!is_own(author), bundle ? bundle->launch : parsed->launch}].push_back(
        dated);
  }
  return containers;
}

/// Adds to `there` what the container tells a leader of `launch`.
///
/// This user's own sets count, within the limit that all readers apply (ContainerReader::set()), unless other users may
/// add files to the directory (Maker). Another user may have written any time, so the set's time is limited to the
/// container's change time. The file system sets that time, and no user can set it into the future. This
/// user's next launch then exceeds the time, too. Where own sets are limited here, readers limit them in
/// the same way (add_order()).
void look_into(const restart::ContainerReader& container, const restart::Maker& maker,
               std::uint64_t changed_ns, const std::string& launch, SetsThere& there) {
  const restart::SetIdentity& whole = container.set();
  there.has_original |= is_own(maker.author) && !container.origin().is_copy;
  const bool is_of_launch = whole.launch == launch;
  if (is_of_launch && !is_own(maker.author))
    return;  // each user's leader corrects that user's sets
  const std::uint64_t latest =
      is_own(maker.author) ? std::min(maker.latest_ns, latest_order) : changed_ns;
  for (std::size_t i = 0; i < std::max<std::size_t>(whole.bundled.size(), 1); ++i) {
    const restart::SetIdentity set = restart::set_of_part(whole, i);
    const std::uint64_t order = std::min(set.order(), latest);
    if (!is_of_launch) {
      there.newest_before = std::max(there.newest_before, order);
    } else if (set.begun_ns != 0 && order > set.begun_ns) {
      there.own_behind = std::max(there.own_behind, order - set.begun_ns);
    }
  }
}

/// Reads the newest containers of this launch and of the newest other launches. If the directory has copies only, and this launch is
/// the first one that writes there, reads all of them: the copies may be another user's, and say anything about their times. Copies that
/// come later tell no time after that at which they were made (restart::Maker::of_copy()).
Result<SetsThere> look_into(const std::string& path, const std::string& launch) {
  SetsThere there;
  const auto held = HeldContainers::open(path, LinksToContainers::trusted);
  if (!held) {
    if (held.error().system_error == ENOENT) return there;
    return held.error();
  }
  const auto home = held->open_to_list();
  if (!home) return home.error();
  const restart::Beside& beside = held->beside();
  Containers containers = MCR_TRY(list_by_launch(*home, beside));
  const auto look_into_file = [&](const std::string& name) {
    const auto reader = restart::ContainerReader::open(home->descriptor(), name);
    const auto status = reader ? (*reader)->status() : Result<struct stat>(reader.error());
    if (!status) return;
    const restart::Maker maker = restart::maker_of(beside, *status);
    if (beside.believes(maker.author, ::geteuid()))
      look_into(**reader, maker, restart::changed_ns(*status), launch, there);
  };
  std::vector<std::pair<std::uint64_t, NamedLaunch>> launches;
  for (auto& [of, dated] : containers.by_launch) {
    std::sort(dated.rbegin(), dated.rend());
    if (dated.size() > looked_at_of_each_launch) dated.resize(looked_at_of_each_launch);
    launches.emplace_back(dated.front().first, of);
  }
  std::sort(launches.rbegin(), launches.rend());
  std::map<bool, std::size_t> looked_at;  // by: of another user
  for (const auto& [changed, of] : launches) {
    if (of != NamedLaunch{false, launch} && ++looked_at[of.first] > launches_looked_at) continue;
    for (const auto& [container_changed, name] : containers.by_launch.at(of)) look_into_file(name);
  }
  if (there.has_original || restart::written_since(*home) != 0) return there;
  std::sort(containers.all.rbegin(), containers.all.rend());
  if (containers.all.size() > copies_looked_at) containers.all.resize(copies_looked_at);
  for (const auto& [changed, name] : containers.all) look_into_file(name);
  return there;
}

}  // namespace

void LaunchClock::remember(const restart::PartBegin& begin) {
  if (!directory_.is_of(begin.launch)) return;  // the part amends a set of an earlier launch
  const std::lock_guard lock(mutex_);
  for (const std::string& name : begin.masked_names) {
    const std::string directory = container_name_of(begin, name).directory;
    const auto [place, is_new] = known_.try_emplace(directory, Begun{begin.launch, begin.begin_ns});
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
  for (const auto& [path, begun] : directories) {
    const auto there = look_into(path, begun.launch);
    if (!there) {
      restart::log_warning(
          "cannot read the sets of other launches in " + path +
          ", so a restart may take an older set for the newest one: " + there.error().message);
      continue;
    }
    std::uint64_t behind = there->own_behind;
    if (there->newest_before >= begun.begin_ns + behind)
      behind = there->newest_before + begun_together_ns - begun.begin_ns;
    if (behind <= directory_.clock_behind_ns()) continue;
    if (const auto written = directory_.write_clock_behind(behind); !written) {
      restart::log_warning(
          "this node's clock is behind, but the correction could not be recorded. Older sets in " +
          path + " may count as newer than this launch's: " + written.error().message);
      continue;
    }
    restart::log_summary("this node's clock is " + std::to_string(behind / 1'000'000) +
                         " ms behind the time of an older set in " + path +
                         "; mcr adds this difference to the times of this launch's sets");
  }
}

}  // namespace mcr::aggregation
