// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/commit_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include "aggregation/commit/container_directory.hpp"
#include "aggregation/commit/part_access.hpp"
#include "restart/base/attributes.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/log.hpp"
#include "restart/base/own_way.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/sets/set_logs.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::ContainerName;
using restart::File;
using restart::FileIdentity;
using restart::LaunchDirectory;
using restart::PartId;

Present find_present(const ContainerName& where, KnownContainers* known) {
  Present present;
  KnownContainers listed_now;
  present.names = (known != nullptr ? *known : listed_now).find(where);
  if (present.names.empty()) return present;
  const auto home = restart::open_own_containers(where.directory);
  if (!home) return present;
  std::set<FileIdentity> seen;
  for (const std::string& name : present.names) {
    // A part leaves the stage if a container lists it, so only containers of this user's leaders
    // count. Others, and further names of one file, are not even opened: there may be many.
    struct stat there {};
    if (restart::system_calls().fstatat(home->descriptor(), name.c_str(), &there,
                                        AT_SYMLINK_NOFOLLOW) != 0 ||
        !restart::is_believed(there.st_uid, ::geteuid()) ||
        !seen.insert(FileIdentity(there)).second)
      continue;
    const auto reader = restart::ContainerReader::open(home->descriptor(), name);
    const auto status = reader ? (*reader)->status() : Result<struct stat>(reader.error());
    const auto directory = home->status();
    if (!status || !directory ||
        !restart::is_believed(restart::author_of(*status, *directory), ::geteuid()))
      continue;
    const auto parts = (*reader)->parts();
    if (!parts) continue;
    for (const auto& record : **parts) present.parts.insert(record.entry.part);
  }
  return present;
}

std::string free_name(const ContainerName& where, const Present& present, std::uint32_t first,
                      std::uint32_t last, std::uint32_t supplement) {
  std::optional<std::uint32_t> number;
  if (supplement > 0) number = supplement;
  for (;;) {
    std::string name = where.prefix + restart::container_suffix(first, last, number);
    if (!present.names.contains(name)) return name;
    number = number.value_or(0) + 1;
  }
}

std::string free_bundle_name(const ContainerName& where, const Present& present) {
  for (std::uint32_t number = 0;; ++number) {
    std::string name = where.prefix + restart::bundle_suffix(number);
    if (!present.names.contains(name)) return name;
  }
}

void remove_if_new(const Place& place, const ContainerName& where) {
  if (!place.is_new) return;
  const auto above = File::open(place.directory.descriptor(), "..", O_PATH | O_DIRECTORY);
  const std::string name = restart::name_of(where.directory);
  if (above && restart::is_still_named(place.directory, above->descriptor(), name))
    (void)restart::system_calls().unlinkat(above->descriptor(), name.c_str(), AT_REMOVEDIR);
}

namespace {

/// Makes and opens the directory of containers of `where` below its base.
Result<Place> place_below(const File& base, const ContainerName& where) {
  const std::string in_base = where.base == "/" ? where.base : where.base + "/";
  Place place;
  auto made = MCR_TRY(make_container_directory(base, where.directory.substr(in_base.size())));
  place.directory = std::move(made.directory);
  place.is_new = made.is_new;
  place.outer = MCR_TRY(base.status());
  place.shared = MCR_TRY(restart::deepest_above(base, place.directory));
  const File above = MCR_TRY(File::open(place.directory.descriptor(), "..", O_PATH | O_DIRECTORY));
  if (!restart::is_at_or_above(FileIdentity(place.outer), above))
    place.outer = MCR_TRY(above.status());
  return place;
}

/// True if `base`, whose path is `in_base`, leads to the part's stub or to the directory in which
/// the part was begun.
bool leads_to_part(const File& base, const std::string& in_base, const LockedPart& part,
                   const StubPlace& place, const StubHandles* stubs) {
  const auto found = stubs != nullptr ? stubs->find(part.id) : StubHandles::Found{};
  if (found.fate == StubHandles::Fate::present) {
    return found.path.starts_with(in_base) &&
           restart::leads_to(base.descriptor(), found.path.substr(in_base.size()),
                             {found.device, found.inode});
  }
  const restart::PartBegin& begin = part.journal.begin;
  const std::string below = (place.directory + "/").substr(in_base.size());
  const FileIdentity begun{begin.directory_device, begin.directory_inode};
  // A superseded stub may have been moved before, into another directory below the base.
  const std::string begun_at = restart::parent_of(begin.path) + "/";
  if (restart::leads_to(base.descriptor(), below, begun) ||
      (begun_at.starts_with(in_base) &&
       restart::leads_to(base.descriptor(), begun_at.substr(in_base.size()), begun)))
    return true;
  if (place.name.empty()) return false;
  const auto file = restart::open_file_beneath(base.descriptor(), below + place.name);
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  // A newer part's stub may have been written into the same file, which the program had moved.
  if (status && found.inode != 0 &&
      FileIdentity(*status) == FileIdentity{found.device, found.inode})
    return true;
  const auto stub = file ? restart::read_stub_file(*file) : Result<restart::Stub>(file.error());
  return stub && stub->part == part.id;
}

/// Moves the container from the directory in which it lies now, even if its path leads elsewhere.
Result<void> move_container(const File& container, const std::string& path, const File& directory,
                            const std::string& name) {
  const std::string present = restart::present_path(container);
  const std::string from = restart::parent_of(present.empty() ? path : present);
  const std::string old = restart::name_of(path);
  const File home = MCR_TRY(File::open(AT_FDCWD, from, O_PATH | O_DIRECTORY));
  if (!restart::leads_to(home.descriptor(), old, FileIdentity(MCR_TRY(container.status())))) {
    errno = ENOENT;
    return restart::system_error("cannot find", path);
  }
  MCR_TRY(
      restart::put_at_free_name(container, home.descriptor(), old, directory.descriptor(), name));
  return restart::sync_directory(directory.descriptor());
}

/// Narrows the container's access before the container is moved: the directories that keep users
/// from it at its present place may not lie above the new place.
Result<void> close_for_all(const File& container, const std::vector<LockedPart>& parts,
                           const StubHandles* stubs, const Place& there) {
  const File file = MCR_TRY(
      File::open(AT_FDCWD, restart::link_path(container.descriptor()), O_RDONLY | O_NONBLOCK));
  std::vector<restart::Access> all = {MCR_TRY(restart::access_of(file))};
  for (const LockedPart& part : parts) all.push_back(access_of_part(part, stubs, there.shared));
  const restart::Access common = restart::readers_of(all);
  return common == all.front() ? Result<void>() : restart::give_access(file, common);
}

Error files_have_gone(const ContainerName& where) {
  errno = ENOENT;
  return restart::system_error(
      "the checkpoint files were moved or removed while mcr gave their container its name, in",
      where.base);
}

}  // namespace

bool wait_for_removal(const std::vector<LockedPart>& parts, StubHandles* stubs) {
  // A program that removes a directory's files takes less time than this from file to file, also on
  // a busy machine. If no file goes for this long, the removal is over.
  constexpr auto longest_step = std::chrono::milliseconds(60);
  constexpr auto pause = std::chrono::milliseconds(20);
  constexpr int turns = 25;
  if (stubs == nullptr || parts.empty()) return true;
  const std::string directory = restart::parent_of(parts.front().journal.begin.path);
  std::size_t before = 0;
  for (int turn = 0; turn < turns; ++turn) {
    const std::size_t removed = count_removed(parts, stubs);
    if (removed == parts.size()) return true;
    if (removed == before && !stubs->was_removed_from(directory, longest_step)) return true;
    before = removed;
    std::this_thread::sleep_for(pause);
  }
  return false;
}

Followed follow_stubs(const LaunchDirectory& directory, StubHandles* stubs,
                      const PlaceByNames& names, std::vector<LockedPart>& parts,
                      std::vector<PartId>& left) {
  (void)wait_for_removal(parts, stubs);
  StubPlaces places = find_stub_places(parts, stubs);
  Followed followed;
  std::vector<LockedPart> present;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    LockedPart& part = parts[i];
    if (places[i].kind == StubPlace::Kind::removed) {
      restart::log_summary("the program removed " + part.journal.begin.path +
                           " before its commit, so its part was dropped");
      part.bytes = File();
      if (directory.free_part(part.id, {})) {
        left.push_back(part.id);
        continue;
      }
    }
    followed.places.push_back(std::move(places[i]));
    present.push_back(std::move(part));
  }
  parts = std::move(present);
  followed.placement = choose_place(names, followed.places);
  return followed;
}

Result<Place> open_place(const Followed& followed, const std::vector<LockedPart>& parts,
                         const StubHandles* stubs) {
  constexpr std::size_t most_asked = 8;
  const ContainerName& where = followed.placement.where;
  const std::string in_base = where.base == "/" ? where.base : where.base + "/";
  const File base = MCR_TRY(File::open(AT_FDCWD, where.base, O_PATH | O_DIRECTORY));
  bool is_known = false;
  bool is_shown = false;  // stubs were seen there, so it need not be where the parts were begun
  for (std::size_t i = 0, asked = 0; i < parts.size() && asked < most_asked; ++i) {
    const StubPlace& place = followed.places[i];
    if (!(place.directory + "/").starts_with(in_base)) continue;
    ++asked;
    const bool leads = leads_to_part(base, in_base, parts[i], place, stubs);
    if (!leads && place.kind == StubPlace::Kind::here) return files_have_gone(where);
    is_known |= leads;
    is_shown |= !place.directory.empty() &&
                place.directory != restart::parent_of(parts[i].journal.begin.path);
  }
  if (is_known) return place_below(base, where);
  return open_place_by_path(where, is_shown ? nullptr : &parts.front().journal.begin);
}

Result<Place> open_place_by_path(const ContainerName& where, const restart::PartBegin* begin) {
  const auto base = restart::open_by_trusted_way(where.base);
  if (!base && base.error().system_error != ELOOP) return base.error();
  const auto status = base ? base->status() : Result<struct stat>(base.error());
  if (!status || !restart::is_own_or_projects(*status) ||
      (begin != nullptr && !restart::is_begun_below(*begin, *base)))
    return files_have_gone(where);
  Place place = MCR_TRY(place_below(*base, where));
  // The directories of the files are not known, so they may have kept everybody out.
  MCR_TRY(restart::close_to(restart::KeptOut::all(), place.directory, where.directory));
  return place;
}

Result<void> close_as_files(const Place& place, const ContainerName& where,
                            const std::vector<LockedPart>& parts, const StubHandles* stubs) {
  restart::KeptOut kept;
  for (const LockedPart& part : parts) {
    const auto directory = directory_of(part, stubs);
    kept =
        kept | (directory ? restart::kept_out(*directory, place.outer) : restart::KeptOut::all());
  }
  return restart::close_to(kept, place.directory, where.directory);
}

Result<void> follow_container(StubHandles* stubs, const PlaceByNames& names,
                              const std::vector<LockedPart>& parts, Followed& followed,
                              CommitReport& report) {
  constexpr int most_moves = 4;
  const std::string suffix =
      restart::name_of(report.path).substr(followed.placement.where.prefix.size());
  const auto by_path = [&] { return File::open(AT_FDCWD, report.path, O_PATH | O_NOFOLLOW); };
  const File path_only = report.container.is_open() ? File() : MCR_TRY(by_path());
  const File& container = report.container.is_open() ? report.container : path_only;
  const FileIdentity identity(MCR_TRY(container.status()));
  for (int move = 0;; ++move) {
    const ContainerName from = followed.placement.where;
    followed.places = look_again(parts, stubs, followed.places);
    followed.placement = choose_place(names, followed.places);
    const ContainerName& to = followed.placement.where;
    // The container was removed with its directory; ContainerWatch decides whether it is brought
    // back.
    const bool is_as_before = to.directory == from.directory && to.prefix == from.prefix;
    if (is_as_before && report.container.is_open() && !container.has_name()) return {};
    const std::string target = to.prefix + suffix;
    const Place there = MCR_TRY(open_place(followed, parts, stubs));
    if (restart::leads_to(there.directory.descriptor(), target, identity)) {
      report.directory = FileIdentity(MCR_TRY(there.directory.status()));
      report.path = to.directory + "/" + target;
      return {};
    }
    if (move == most_moves) {
      errno = ENOENT;
      return restart::system_error("cannot find", to.directory + "/" + target);
    }
    MCR_TRY(close_as_files(there, to, parts, stubs));
    MCR_TRY(close_for_all(container, parts, stubs, there));
    MCR_TRY(move_container(container, report.path, there.directory, target));
    restart::log_summary(
        "moved " + report.path + " to " + to.directory + "/" + target +
        ", because the checkpoint files were renamed while the container was written");
    report.path = to.directory + "/" + target;
  }
}

void report_trouble(const std::string& container_directory, const std::string& message) {
  restart::log_warning(message);
  const auto home = restart::open_own_containers_to_write(container_directory);
  if (home) (void)restart::add_to_log(*home, "set-trouble.log", message).has_value();
}

}  // namespace mcr::aggregation
