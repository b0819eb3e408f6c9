// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/stub_places.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "aggregation/commit/others_directories.hpp"
#include "aggregation/commit/put_back.hpp"
#include "aggregation/commit/stub_search.hpp"
#include "restart/base/birth_time.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::ContainerName;
using restart::File;
using restart::parent_of;
using restart::PartBegin;
using Kind = StubPlace::Kind;

namespace {

/// True if the path certainly does not exist. False if storage does not answer: the write will then
/// report the error.
bool is_gone(const std::string& path) {
  struct stat status {};
  return restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) !=
             0 &&
         restart::leads_nowhere(errno);
}

/// True if `path` still is the directory in which the part was begun, or if storage does not answer.
/// A program may have removed that directory, perhaps after a copy, and made another one since.
bool is_directory_of(const PartBegin& begin, const std::string& path) {
  const auto directory = File::open(AT_FDCWD, path, O_PATH | O_DIRECTORY);
  if (!directory) return !restart::leads_nowhere(directory.error().system_error);
  return restart::is_begun_in(begin, *directory);
}

/// True if `path` still is the directory in which the removed stub lay last. The program may have
/// moved the stub out of the directory in which the part was begun.
bool is_last_directory(const PartBegin& begin, const StubHandles::Found& removed,
                       const std::string& path) {
  if (is_directory_of(begin, path)) return true;
  return path != parent_of(begin.path) && !restart::is_gone_or_made_after(path, removed.removed_ns);
}

/// True if another directory, which is older than the part, lies at the path of the directory in which the part was begun: the
/// directories were exchanged. (The program may have removed its directory and made another one since.)
bool was_exchanged(const PartBegin& begin) {
  const std::string path = parent_of(begin.path);
  return !is_gone(path) && !is_directory_of(begin, path) &&
         !restart::is_gone_or_made_after(path, begin.begin_for_files_ns());
}

/// True if the base that follows from the parts' names still is the directory that it was when the
/// part was begun.
bool is_base_there(const PlaceByNames& names) {
  const ContainerName& where = names.where;
  return where.depth == 0
             ? is_directory_of(names.begin, where.base)
             : !was_exchanged(names.begin) &&
                   !restart::is_gone_or_made_after(where.base, names.begin.begin_for_files_ns());
}

/// True if the directory at `path` lay at or above the part when it was begun, or if storage does not answer.
bool lay_above(const PartBegin& begin, const std::string& path) {
  const auto directory = File::open(AT_FDCWD, path, O_PATH | O_DIRECTORY);
  if (!directory) return !restart::leads_nowhere(directory.error().system_error);
  return restart::is_begun_below(begin, *directory) &&
         !restart::was_made_after(*directory, begin.begin_for_files_ns());
}

/// Returns the nearest directory above `path` that lay above the part when it was begun, and that no other user can take away.
std::string older_directory_above(std::string path, const PartBegin& begin) {
  do {
    path = parent_of(path);
  } while (path != "/" && (!lay_above(begin, path) || restart::others_may_move(path)));
  return path;
}

/// True if a file lies at the part's path, for a part whose stub lies there no more.
bool is_superseded(const PartBegin& begin) {
  return !is_gone(begin.path) && is_directory_of(begin, parent_of(begin.path));
}

/// Looks at the file at the part's path; used if there is no descriptor of the stub.
StubPlace look_at_path(const PartBegin& begin) {
  const std::string directory = parent_of(begin.path);
  const auto file = File::open(AT_FDCWD, begin.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file && !is_gone(begin.path)) {
    // ELOOP is a link; with any other error, storage does not answer.
    return {file.error().system_error == ELOOP ? Kind::superseded : Kind::here, directory};
  }
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  // Another user's file at that path is not the part's stub.
  const bool is_own = status && restart::is_believed(status->st_uid, ::geteuid());
  if (file && !is_own) return {Kind::missing, {}};
  if (file) {
    const auto stub = restart::read_stub_file(*file);
    // The file that the part replaces may still lie there, because the writer died before it put
    // the stub in place.
    const bool is_predecessor = stub && begin.replaced_part && *begin.replaced_part == stub->part;
    if ((stub && stub->part == begin.part) || is_predecessor || is_our_empty_file(begin, *status)) {
      return {Kind::here, directory};
    }
    if (is_directory_of(begin, directory)) return {Kind::superseded, directory};
  }
  return {Kind::missing, is_directory_of(begin, directory) ? directory : std::string()};
}

/// Returns what is known of a part's stub without a search.
StubPlace look_at(const LockedPart& part, StubHandles* stubs, StubHandles::Found& found) {
  const PartBegin& begin = part.journal.begin;
  if (part.is_native) {  // its file is not a stub, and belongs to the set
    const std::string directory = parent_of(begin.path);
    return {is_directory_of(begin, directory) ? Kind::superseded : Kind::missing, directory};
  }
  if (stubs != nullptr) found = stubs->find(part.id);
  switch (found.fate) {
    case StubHandles::Fate::present:
      return {Kind::here, parent_of(found.path)};
    case StubHandles::Fate::removed: {
      // A stub that a newer file replaced has no name either, but its part may belong to the last
      // whole set. The newer file lies at the part's path or, if the program writes `tmp` and
      // renames it, at the stub's last name.
      const std::string last = found.path.empty() ? begin.path : found.path;
      const std::string directory = parent_of(last);
      const bool is_there = is_last_directory(begin, found, directory);
      if (is_there && !is_gone(last)) return {Kind::superseded, directory};
      if (is_superseded(begin)) return {Kind::superseded, parent_of(begin.path)};
      if (!stubs->may_have_been_copied(part.id)) return {Kind::removed, {}};
      return {Kind::missing, is_there ? directory : std::string()};
    }
    case StubHandles::Fate::elsewhere:
      // A replaced stub has only our own link left (gc=on).
      if (is_superseded(begin)) return {Kind::superseded, parent_of(begin.path)};
      return {Kind::missing, {}};
    case StubHandles::Fate::unknown:
      break;
  }
  return look_at_path(begin);
}

/// Searches for all missing stubs at once, in the nearest directory first where they may be.
void search(const std::vector<LockedPart>& parts, const std::vector<StubHandles::Found>& found,
            StubPlaces& places, StubHandles* stubs) {
  std::vector<std::vector<std::string>> roots(parts.size());
  std::size_t most_roots = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_searched =
        places[i].kind == Kind::missing && found[i].fate != StubHandles::Fate::removed;
    if (is_searched) roots[i] = roots_of_search(parts[i].journal.begin);
    most_roots = std::max(most_roots, roots[i].size());
  }
  const auto index_of = [&](const restart::PartId& part) {
    const auto it = std::find_if(parts.begin(), parts.end(),
                                 [&](const LockedPart& one) { return one.id == part; });
    return static_cast<std::size_t>(it - parts.begin());
  };
  const auto is_here = [&](const restart::PartId& part, const std::string& path) {
    const std::size_t i = index_of(part);
    if (stubs != nullptr) stubs->remember_found(parts[i].journal.begin, path);
    places[i] = {Kind::here, parent_of(path), restart::name_of(path)};
  };
  std::map<restart::PartId, std::string> copies;  // a program may have moved the file itself there
  const std::uint64_t until_ms = restart::monotonic_ms() + longest_search_ms;
  for (std::size_t turn = 0; turn < most_roots; ++turn) {
    std::map<std::string, WantedStubs> wanted;  // by root
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const PartBegin& begin = parts[i].journal.begin;
      if (places[i].kind == Kind::missing && turn < roots[i].size())
        wanted[roots[i][turn]][parts[i].id] = wanted_stub(begin, {found[i].device, found[i].inode});
    }
    for (const auto& [root, wanted_there] : wanted) {
      for (const auto& [part, stub] : search_stubs(root, wanted_there, until_ms)) {
        if (stub.may_be_copy) {
          copies.try_emplace(part, stub.path);
        } else {
          is_here(part, stub.path);
        }
      }
    }
  }
  for (const auto& [part, path] : copies) {
    if (places[index_of(part)].kind == Kind::missing) is_here(part, path);
  }
}

std::string up(std::string directory, std::uint32_t levels) {
  for (std::uint32_t i = 0; i < levels; ++i) directory = parent_of(directory);
  return directory;
}

/// Returns the deepest directory that contains both, which may be one of the two.
std::string shared_directory(const std::string& a, const std::string& b) {
  std::string shared = a;
  while (shared != "/" && b != shared && !b.starts_with(shared + "/")) shared = parent_of(shared);
  return shared;
}

/// True if a directory of containers may be made in this directory.
bool is_usable(const std::string& directory) {
  struct stat status {};
  return directory != "/" &&
         restart::system_calls().fstatat(AT_FDCWD, directory.c_str(), &status, 0) == 0 &&
         S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         ::access(directory.c_str(), W_OK | X_OK) == 0;
}

/// True if a directory of containers lies in this base, or may be made. With container_dir=../NAME, a file that was moved upwards
/// would lead into a directory in which its user may not write.
bool may_have_containers(const std::string& base, const std::string& container_dir) {
  if (!container_dir.starts_with("../")) return true;
  const std::string directory = (base == "/" ? "/" : base + "/") + container_dir;
  struct stat status {};
  const bool is_there =
      restart::system_calls().fstatat(AT_FDCWD, directory.c_str(), &status, 0) == 0;
  return ::access((is_there ? directory : parent_of(directory)).c_str(), W_OK | X_OK) == 0;
}

}  // namespace

StubPlaces find_stub_places(const std::vector<LockedPart>& parts, StubHandles* stubs) {
  StubPlaces places;
  std::vector<StubHandles::Found> found(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    places.push_back(look_at(parts[i], stubs, found[i]));
  search(parts, found, places, stubs);
  return places;
}

StubPlaces look_again(const std::vector<LockedPart>& parts, StubHandles* stubs,
                      const StubPlaces& before) {
  StubPlaces places;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    StubHandles::Found found;
    StubPlace place = look_at(parts[i], stubs, found);
    const bool is_as_before = place.kind == Kind::missing && before[i].kind == Kind::here;
    places.push_back(is_as_before ? before[i] : std::move(place));
  }
  return places;
}

std::size_t count_removed(const std::vector<LockedPart>& parts, StubHandles* stubs) {
  if (stubs == nullptr) return 0;
  return static_cast<std::size_t>(
      std::count_if(parts.begin(), parts.end(), [&](const LockedPart& part) {
        StubHandles::Found found;
        return !part.is_native && stubs->find(part.id).fate == StubHandles::Fate::removed &&
               look_at(part, stubs, found).kind == Kind::removed;
      }));
}

Placement choose_place(const PlaceByNames& names, const StubPlaces& places) {
  const ContainerName& where = names.where;
  Placement placement{where, false, std::vector<bool>(places.size(), true)};
  const auto go_below = [&](const std::string& base) {
    placement.where.base = base;
    placement.where.directory = (base == "/" ? "/" : base + "/") + names.container_dir;
  };
  const auto go_far = [&](const std::string& base) {
    go_below(base);
    placement.is_far = true;
    placement.where.depth = 0;
    placement.where.prefix = placement.where.distinct_prefix = names.far_prefix;
  };
  // The stubs decide. Only if there is no stub do the files that superseded stubs say where the set
  // lies.
  const bool is_where_there = is_base_there(names);
  OthersDirectories others(where.base, is_where_there, names.begin.begin_for_files_ns());
  Kind kind = Kind::here;
  // True for a directory of this user's to which others may write. Natively they could remove the file itself there,
  // so the stub counts.
  const auto is_users_own = [&](const std::string& base) {
    return is_where_there && is_usable(base) && !others.control(parent_of(base));
  };
  const auto counts = [&](const StubPlace& place) {
    const std::string base = up(place.directory, where.depth);
    return place.kind == kind && (!others.control(base) || is_users_own(base)) &&
           may_have_containers(base, names.container_dir);
  };
  if (std::none_of(places.begin(), places.end(), counts)) kind = Kind::superseded;
  std::string base;
  std::string shared;
  bool is_one = true;
  for (const StubPlace& place : places) {
    if (!counts(place)) continue;
    const std::string of_this = up(place.directory, where.depth);
    is_one &= base.empty() || base == of_this;
    shared = shared.empty() ? place.directory : shared_directory(shared, place.directory);
    if (base.empty()) base = of_this;
  }
  // If nothing shows where the files are, another directory may have come to the path of the base: only a directory that no
  // other user can take away is safe for a container.
  const bool is_known = std::any_of(places.begin(), places.end(), [](const StubPlace& place) {
    return !place.directory.empty();
  });
  // Where a missing file lies, others may have fewer rights than in `base`.
  const bool is_missing = std::any_of(places.begin(), places.end(), [](const StubPlace& place) {
    return place.kind == Kind::missing;
  });
  // If the files were moved into a directory below where.base, a container below where.base is
  // still found from them, also after further moves below that directory.
  if (is_where_there && shared.starts_with(where.base + "/")) {
    go_below(where.base);
  } else if (!base.empty() && is_one && (!is_missing || !others.control(base))) {
    go_below(base);
  } else if (!base.empty() && is_usable(shared) && !others.control(shared)) {
    go_far(shared);
  } else if (is_where_there && (is_known || !restart::others_may_move(where.base))) {
    go_below(where.base);
  } else if (!base.empty()) {
    go_below(base);
  } else {
    go_far(older_directory_above(where.base, names.begin));
  }
  const bool is_by_path = placement.where.base == where.base && is_where_there;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const StubPlace& place = places[i];
    const bool is_shared = placement.where.base == shared;
    placement.is_reached[i] =
        place.kind == Kind::superseded || place.kind == Kind::removed ||
        (place.kind == Kind::here &&
         (is_shared || is_by_path || up(place.directory, where.depth) == placement.where.base)) ||
        (place.kind == Kind::missing && is_by_path && !place.directory.empty());
  }
  return placement;
}

ContainerName place_above(const PlaceByNames& names) {
  ContainerName where = names.where;
  // Another user who may write to a directory above may have put a directory or a link at this
  // path.
  const auto is_ours = [](const std::string& path) {
    struct stat status {};
    return restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) ==
               0 &&
           S_ISDIR(status.st_mode) && (status.st_uid == ::geteuid() || status.st_uid == 0);
  };
  do {
    where.base = parent_of(where.base);
  } while (where.base != "/" && (!is_ours(where.base) || !lay_above(names.begin, where.base)));
  where.directory = (where.base == "/" ? "/" : where.base + "/") + names.container_dir;
  where.depth = 0;
  where.prefix = where.distinct_prefix = names.far_prefix;
  return where;
}

}  // namespace mcr::aggregation
