// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/launch_clock.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "aggregation/commit/commit_options.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/container_name.hpp"
#include "restart/container_reader.hpp"

namespace mcr::aggregation {

namespace {

/// A part may be found after others that were begun a little later.
constexpr std::uint64_t begun_together_ns = 1'000'000'000;
/// Sets of one launch are committed in about the order in which they were begun.
constexpr std::size_t looked_at_of_each_launch = 8;

/// The order of the newest set in `path` of another launch; 0 where there is none.
std::uint64_t newest_order(const std::string& path, const std::string& launch) {
  const auto home = restart::File::open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  const auto names = home ? restart::list_directory(home->descriptor(), ".")
                          : Result<std::vector<std::string>>(home.error());
  if (!names) return 0;
  using Dated = std::pair<std::pair<std::int64_t, std::int64_t>, std::string>;
  std::map<std::string, std::vector<Dated>> containers;  // by launch
  for (const std::string& name : *names) {
    const auto parsed = restart::parse_container_name(name);
    struct stat status {};
    if (!parsed || parsed->launch == launch ||
        restart::system_calls().fstatat(home->descriptor(), name.c_str(), &status,
                                        AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    containers[parsed->launch].push_back({{status.st_mtim.tv_sec, status.st_mtim.tv_nsec}, name});
  }
  std::uint64_t newest = 0;
  for (auto& [other, dated] : containers) {
    std::sort(dated.rbegin(), dated.rend());
    if (dated.size() > looked_at_of_each_launch) dated.resize(looked_at_of_each_launch);
    for (const auto& [modified, name] : dated) {
      const auto reader = restart::ContainerReader::open(home->descriptor(), name);
      if (reader) newest = std::max(newest, (*reader)->set().order());
    }
  }
  return newest;
}

}  // namespace

void LaunchClock::remember(const restart::PartBegin& begin) {
  if (begin.masked_names.empty()) return;
  const auto where =
      restart::container_name(begin.masked_names.front(), settings_of(begin).text("container_dir"),
                              begin.launch, begin.sequence);
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] =
      known_.try_emplace(where.directory, Begun{begin.launch, begin.begin_ns});
  place->second.begin_ns = std::min(place->second.begin_ns, begin.begin_ns);
  if (is_new) to_look_at_.insert(where.directory);
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
    const std::uint64_t newest = newest_order(path, begun.launch);
    if (newest < begun.begin_ns + directory_.clock_behind_ns()) continue;
    const std::uint64_t behind = newest + begun_together_ns - begun.begin_ns;
    if (const auto written = directory_.write_clock_behind(behind); !written) {
      restart::log_warning(written.error().message);
    }
    restart::log_summary("this node's clock is " + std::to_string(behind / 1'000'000) +
                         " ms behind a set in " + path + ": later sets count from there on");
  }
}

}  // namespace mcr::aggregation
