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
#include "restart/base/durable_replace.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/printable.hpp"
#include "restart/base/system.hpp"
#include "restart/base/time_stamp.hpp"
#include "restart/base/trust.hpp"
#include "restart/container_reader.hpp"
#include "restart/own_containers.hpp"

namespace mcr::aggregation {

using restart::ContainerName;
using restart::File;
using restart::LaunchDirectory;
using restart::PartId;

Present find_present(const ContainerName& where, KnownContainers* known) {
  Present present;
  KnownContainers listed_now;
  present.names = (known != nullptr ? *known : listed_now).find(where);
  if (present.names.empty()) return present;
  const auto home = File::open(AT_FDCWD, where.directory, O_RDONLY | O_DIRECTORY);
  if (!home) return present;
  for (const std::string& name : present.names) {
    const auto reader = restart::ContainerReader::open(home->descriptor(), name);
    const auto status = reader ? (*reader)->status() : Result<struct stat>(reader.error());
    // What is in one of these leaves the stage: only what this user's leaders have written counts.
    if (!status || !restart::is_believed(status->st_uid, ::geteuid())) continue;
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

Result<void> make_directory(const ContainerName& where) {
  const std::string& path = where.directory;
  std::size_t slash = where.base.size();
  do {
    slash = path.find('/', slash + 1);
    MCR_TRY(make_container_directory(path.substr(0, slash)));
  } while (slash != std::string::npos);
  return {};
}

namespace {

/// A program that removes a directory removes file after file: so long none for this time, and it is
/// done.
constexpr auto removal_pause = std::chrono::milliseconds(20);
constexpr int removal_turns = 25;

/// Gives a file another name on the same file system, durably; what lies there already stays.
Result<void> rename_durably(const std::string& from, const std::string& to) {
  if (restart::system_calls().rename_new(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str()) != 0)
    return restart::system_error("cannot rename", from);
  const File home = MCR_TRY(File::open(AT_FDCWD, restart::parent_of(to), O_RDONLY | O_DIRECTORY));
  return restart::sync_directory(home.descriptor());
}

}  // namespace

Followed follow_stubs(const LaunchDirectory& directory, StubHandles* stubs,
                      const PlaceByNames& names, std::vector<LockedPart>& parts,
                      std::vector<PartId>& left) {
  std::size_t removed = count_removed(parts, stubs);
  for (int turn = 0; turn < removal_turns && removed > 0 && removed < parts.size(); ++turn) {
    std::this_thread::sleep_for(removal_pause);
    const std::size_t now = count_removed(parts, stubs);
    if (now == removed) break;
    removed = now;
  }
  StubPlaces places = find_stub_places(parts, stubs);
  Followed followed;
  std::size_t number = 0;
  std::erase_if(parts, [&](LockedPart& part) {
    StubPlace& place = places[number++];
    if (place.kind == StubPlace::Kind::removed) {
      restart::log_summary("the program removed " + part.journal.begin.path +
                           " before its commit: its part is dropped");
      part.bytes = File();
      if (directory.committed(part.id, false, {})) {
        left.push_back(part.id);
        return true;
      }
    }
    followed.places.push_back(std::move(place));
    return false;
  });
  followed.placement = choose_place(names, followed.places);
  return followed;
}

Result<File> open_place(const Followed& followed, const std::vector<LockedPart>& parts,
                        const StubHandles* stubs) {
  constexpr std::size_t most_asked = 8;
  const ContainerName& where = followed.placement.where;
  const std::string in_base = where.base == "/" ? where.base : where.base + "/";
  const File base = MCR_TRY(File::open(AT_FDCWD, where.base, O_PATH | O_DIRECTORY));
  std::size_t asked = 0;
  for (std::size_t i = 0; stubs != nullptr && i < parts.size() && asked < most_asked; ++i) {
    if (!(followed.places[i].directory + "/").starts_with(in_base)) continue;
    const StubHandles::Found found = stubs->find(parts[i].id);
    if (found.fate != StubHandles::Fate::present) continue;
    ++asked;
    struct stat there {};
    const bool is_there = found.path.starts_with(in_base) &&
                          restart::system_calls().fstatat(base.descriptor(),
                                                          found.path.substr(in_base.size()).c_str(),
                                                          &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                          there.st_dev == found.device && there.st_ino == found.inode;
    if (is_there) continue;
    errno = ENOENT;
    return restart::system_error("files have gone from", where.base);
  }
  const std::string below =
      where.directory.starts_with(in_base) ? where.directory.substr(in_base.size()) : "";
  auto home = restart::is_plain_path(below)
                  ? restart::open_beneath(base.descriptor(), below, O_RDONLY | O_DIRECTORY)
                  : File::open(AT_FDCWD, where.directory, O_RDONLY | O_DIRECTORY);
  const int problem = home ? 0 : home.error().system_error;
  // A link of this user's in its place.
  if (problem == ELOOP || problem == ENOTDIR) return restart::open_own_containers(where.directory);
  return home;
}

Result<void> follow_container(StubHandles* stubs, const PlaceByNames& names,
                              const std::vector<LockedPart>& parts, Followed& followed,
                              std::string& path) {
  constexpr int most_moves = 4;
  for (int move = 0; move < most_moves; ++move) {
    const ContainerName from = followed.placement.where;
    followed.places = look_again(parts, stubs, followed.places);
    followed.placement = choose_place(names, followed.places);
    const ContainerName& to = followed.placement.where;
    if (to.directory == from.directory && to.prefix == from.prefix) return {};
    const std::string suffix = restart::name_of(path).substr(from.prefix.size());
    const std::string target = to.directory + "/" + to.prefix + suffix;
    struct stat status {};
    const bool has_gone =
        restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0;
    if (!has_gone) {
      MCR_TRY(make_directory(to));
      MCR_TRY(rename_durably(path, target));
      restart::log_summary("moved " + path + " to " + target +
                           ": its files were renamed while it was written");
    } else if (restart::system_calls().fstatat(AT_FDCWD, target.c_str(), &status,
                                               AT_SYMLINK_NOFOLLOW) != 0) {
      // Else the directory was renamed, and the container in it: it lies where it belongs.
      return restart::system_error("cannot find", target);
    }
    path = target;
  }
  return {};
}

void report_trouble(const std::string& container_directory, const std::string& message) {
  restart::log_warning(message);
  const auto home = restart::open_own_containers(container_directory);
  const auto log = home ? restart::open_log(*home, "set-trouble.log") : Result<File>(home.error());
  if (log)
    (void)log->append(as_bytes(restart::time_stamp() + " " + restart::printable(message) + "\n"))
        .has_value();
}

}  // namespace mcr::aggregation
