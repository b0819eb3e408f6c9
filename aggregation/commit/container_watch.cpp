// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/container_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "aggregation/commit/copy_time.hpp"
#include "aggregation/commit/held_containers.hpp"
#include "restart/base/copy_data.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/read_marks.hpp"
#include "restart/base/system.hpp"
#include "restart/container/own_file.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/sets/removed_sets.hpp"

namespace mcr::aggregation {

using restart::File;

namespace {

constexpr std::size_t most_watched = 256;
constexpr std::size_t most_stubs = 64;  ///< of one container
/// How long a container that was brought back is watched again.
constexpr std::uint64_t watch_again_ms = 2'000;
/// For how long, and at which interval, a failed attempt to bring a container back is repeated:
/// storage that is full now may have room later.
constexpr std::uint64_t longest_try_ms = 600'000;
constexpr std::uint64_t try_again_ms = 5'000;
/// How long to wait until a collection has logged that it removed the container.
constexpr std::uint64_t settle_ms = 1'000;
constexpr int most_returns = 3;
constexpr int most_without_trace = 16;

bool may_be_copied_now(const Followed& followed, const std::vector<LockedPart>& parts) {
  std::set<std::string> asked;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& directory = followed.places[i].directory;
    if (parts[i].is_native || directory.empty() || !asked.insert(directory).second) continue;
    if (restart::may_have_been_listed(directory, parts[i].journal.begin.begin_ns)) return true;
  }
  return false;
}

bool is_there(const std::string& path) {
  struct stat status {};
  return restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) == 0;
}

bool was_removed_by_a_collection(const std::string& path, const std::string& prefix) {
  const auto held = HeldContainers::open(restart::parent_of(path), LinksToContainers::trusted);
  if (!held) return false;
  auto directory = held->open_to_list();
  if (!directory) return false;
  const restart::OpenContainers containers(*std::move(directory), ::geteuid(), held->beside());
  return restart::removed_set(containers, prefix).has_value();
}

/// Returns the pattern of the set's path; empty for a bundle.
std::string pattern_of_path(const std::string& container) {
  const auto parsed = restart::parse_container_name(restart::name_of(container));
  return parsed ? restart::pattern_of(parsed->masked_name) : std::string();
}

/// Returns the name that the container had in its old directory. If that name is taken in `to`,
/// returns the next free name of the set.
std::string name_for(const restart::ContainerName& to, const std::string& suffix) {
  const Present present = find_present(to);
  std::string name = to.prefix + suffix;
  if (!present.names.contains(name)) return name;
  const auto parsed = restart::parse_container_name(name);
  return parsed ? free_name(to, present, parsed->first_rank, parsed->last_rank,
                            parsed->supplement.value_or(0) + 1)
                : free_bundle_name(to, present);
}

StubPlaces places_of(const std::vector<File>& stubs) {
  StubPlaces places(stubs.size());
  for (std::size_t i = 0; i < stubs.size(); ++i) {
    const auto status = stubs[i].status();
    const std::string path = restart::present_path(stubs[i]);
    if (status && !path.empty() &&
        restart::leads_to(AT_FDCWD, path, restart::FileIdentity(*status)))
      places[i] = {StubPlace::Kind::here, restart::parent_of(path)};
  }
  return places;
}

/// True if another process has read the new file; the leader's own reads leave no trace. False if
/// the file system does not record when a file was made.
bool was_read_since_birth(const File& file) {
  struct statx status {};
  return ::statx(file.descriptor(), "", AT_EMPTY_PATH, STATX_ATIME | STATX_BTIME, &status) == 0 &&
         (status.stx_mask & STATX_BTIME) != 0 &&
         std::pair(status.stx_atime.tv_sec, status.stx_atime.tv_nsec) !=
             std::pair(status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
}

}  // namespace

void ContainerWatch::add(CommitReport& report, const PlaceByNames& names, const Followed& followed,
                         const std::vector<LockedPart>& parts, StubHandles& stubs) {
  const std::string pattern = pattern_of_path(report.path);
  give_up_older(pattern, followed.placement.where);
  if (!may_be_copied_now(followed, parts)) return;
  if (!report.container.is_open() || restart::keeps_names_of_open_files(report.container)) return;
  Watched watched;
  watched.container = std::move(report.container);
  watched.path = report.path;
  watched.suffix = restart::name_of(report.path).substr(followed.placement.where.prefix.size());
  watched.names = names;
  watched.pattern = pattern;
  watched.read_time = report.status.st_atim;
  watched.was_read_unnamed = was_read_since_birth(watched.container);
  watched.until_ms = restart::monotonic_ms() + copy_time_ms(followed.placement.where.base);
  for (const LockedPart& part : parts) {
    if (watched.stubs.size() == most_stubs) break;
    File stub = stubs.take(part.id);
    if (stub.is_open()) watched.stubs.push_back(std::move(stub));
  }
  watched.shows_reads = !watched.stubs.empty() && restart::shows_reads(watched.stubs.front());
  if (watched_.size() == most_watched) watched_.erase(watched_.begin());
  watched_.push_back(std::move(watched));
  count_ = watched_.size();
}

void ContainerWatch::give_up_older(const std::string& pattern,
                                   const restart::ContainerName& newer) {
  if (pattern.empty()) return;
  const std::string of_its_set = newer.directory + "/" + newer.prefix;
  std::erase_if(watched_, [&](const Watched& watched) {
    return watched.pattern == pattern && !watched.shows_reads &&
           !watched.path.starts_with(of_its_set);
  });
  count_ = watched_.size();
}

void ContainerWatch::forget(const std::string& prefix) {
  std::erase_if(watched_, [&](const Watched& watched) { return watched.path.starts_with(prefix); });
  count_ = watched_.size();
}

void ContainerWatch::look() {
  const std::uint64_t now_ms = restart::monotonic_ms();
  std::erase_if(watched_, [&](Watched& watched) { return is_done(watched, now_ms); });
  count_ = watched_.size();
}

bool ContainerWatch::is_done(Watched& watched, std::uint64_t now_ms) {
  const bool is_over = now_ms >= watched.until_ms;
  if (watched.container.has_name()) return is_over;
  if (watched.lost_ms == 0) watched.lost_ms = now_ms;
  // If the directory still exists, a collection may have removed the container, and will log that.
  // If the directory is gone, no collection did this: the directory was removed as a whole.
  const bool may_be_ours = is_there(restart::parent_of(watched.path));
  if (may_be_ours && now_ms < watched.lost_ms + settle_ms) return false;
  if (!is_missed(watched)) return true;
  // While stubs still have their names, either the removal is not over, or the stubs stay and need
  // their container beside them.
  if (has_stubs(watched) && !is_over) return false;
  // Waits for the commit of the next checkpoint, which would show that the program removed this one
  // on purpose.
  if (!watched.shows_reads && !is_over) return false;
  if (now_ms < watched.try_ms) return false;
  if (!may_bring_back(watched)) return true;
  const std::string path = watched.path;
  const auto brought = bring_back(watched);
  if (brought) {
    brought_back_ += watched.shows_reads ? 0 : 1;
    return ++watched.returns == most_returns;
  }
  const bool is_lost = now_ms >= watched.lost_ms + longest_try_ms;
  restart::log_warning_once(path + (is_lost ? " lost" : ""),
                            (is_lost ? "the data of the removed container " + path + " is lost: "
                                     : "cannot restore the removed container " + path + " yet: ") +
                                brought.error().message);
  watched.try_ms = now_ms + try_again_ms;
  return is_lost;
}

bool ContainerWatch::may_bring_back(const Watched& watched) {
  if (watched.shows_reads || brought_back_ < most_without_trace) return true;
  restart::log_warning_once(
      "brought back",
      "from now on, mcr does not restore containers that are removed together with their files "
      "soon after the commit: it restored " +
          std::to_string(brought_back_) +
          " of them in this launch. `mcr gc` lists those that are not needed");
  return false;
}

bool ContainerWatch::has_stubs(const Watched& watched) {
  return std::any_of(watched.stubs.begin(), watched.stubs.end(),
                     [](const File& stub) { return stub.has_name(); });
}

/// True if the stubs may have been copied without the container: the stubs may have been read, the
/// container was not read, and no collection removed it.
bool ContainerWatch::is_missed(const Watched& watched) {
  const auto status = watched.container.status();
  const bool was_read_too = status && (status->st_atim.tv_sec != watched.read_time.tv_sec ||
                                       status->st_atim.tv_nsec != watched.read_time.tv_nsec);
  // A process that read the file under its temporary name has not copied the container.
  if (was_read_too && !watched.was_read_unnamed) return false;
  const bool is_unread =
      !watched.stubs.empty() &&
      std::none_of(watched.stubs.begin(), watched.stubs.end(), restart::may_have_been_read);
  if (is_unread) return false;
  const std::string name = restart::name_of(watched.path);
  return !was_removed_by_a_collection(watched.path,
                                      name.substr(0, name.size() - watched.suffix.size()));
}

Result<void> ContainerWatch::bring_back(Watched& watched) {
  const bool is_shown = has_stubs(watched);
  const restart::ContainerName to =
      is_shown ? choose_place(watched.names, places_of(watched.stubs)).where
               : place_above(watched.names);
  const Place place = MCR_TRY(open_place_by_path(to, is_shown ? nullptr : &watched.names.begin));
  const File& home = place.directory;
  const std::string name = name_for(to, watched.suffix);
  restart::PendingFile pending =
      MCR_TRY(restart::PendingFile::create(home.descriptor(), name, 0600));
  MCR_TRY(
      restart::copy_data(watched.container, pending.file(), 0, MCR_TRY(watched.container.size())));
  (void)MCR_TRY(restart::mark_own_file(pending.file(), 0));
  // The access rights of the removed directory are no longer known, so only the owner may read the
  // container.
  MCR_TRY(pending.finish(restart::Durability::durable, restart::Existing::kept));
  const std::string path = to.directory + "/" + name;
  restart::log_summary("restored the container " + watched.path + " as " + path +
                       ": the directory was removed, and its files may have been copied before the "
                       "container was in it");
  watched.container =
      MCR_TRY(File::open(home.descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  watched.container.leave_access_time();
  watched.read_time = MCR_TRY(watched.container.status()).st_atim;
  watched.path = path;
  watched.suffix = name.substr(to.prefix.size());
  watched.lost_ms = 0;
  watched.until_ms = restart::monotonic_ms() + watch_again_ms;
  return {};
}

}  // namespace mcr::aggregation
