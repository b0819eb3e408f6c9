// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/named_containers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "aggregation/commit/held_containers.hpp"
#include "aggregation/commit/set_files.hpp"
#include "aggregation/mcr/distinct_sets.hpp"
#include "aggregation/mcr/short_name.hpp"
#include "restart/base/file.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/base/own_way.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/index.hpp"
#include "restart/format/stub.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/look.hpp"
#include "restart/sets/places_above.hpp"
#include "restart/sets/removed_sets.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;

/// Returns the identity of the regular file at `path`. Nothing for a directory or another kind of
/// file, which may also have a container's name.
std::optional<restart::FileIdentity> file_there(const std::string& path) {
  struct stat status {};
  const bool is_file =
      leads_nowhere_else(path) && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  return is_file ? std::optional(restart::FileIdentity(status)) : std::nullopt;
}

/// True if the bundle has a set whose containers' names would begin with `prefix`.
bool has_set(const std::string& bundle, const std::string& prefix) {
  const auto reader = restart::ContainerReader::open(AT_FDCWD, bundle);
  if (!reader) return false;
  const restart::SetIdentity& all = (*reader)->set();
  for (std::size_t i = 0; i < all.bundled.size(); ++i) {
    if (name_prefix_of(restart::set_of_part(all, i)).starts_with(prefix)) return true;
  }
  return false;
}

Result<std::vector<std::string>> container_names(const std::string& directory) {
  return restart::list_fitting_names(AT_FDCWD, directory, [](const std::string& name) {
    return restart::is_container_name(name);
  });
}

/// Returns a container in `directory` with a name that leaders do not give; empty if there is none.
std::string packed_container_in(const std::string& directory) {
  const auto names = restart::list_directory(AT_FDCWD, directory);
  if (!names) return {};
  for (const std::string& name : *names) {
    if (name.starts_with('.')) continue;  // a temporary file
    const std::string path = in_directory(directory, name);
    struct stat status {};
    // Do not open devices and other special files.
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const auto file = File::open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (file && is_container(*file)) return path;
  }
  return {};
}

/// Returns why this user cannot list the directory; nothing if the user can, or if it does not
/// exist.
std::optional<Error> why_closed(const std::string& directory) {
  if (::faccessat(AT_FDCWD, directory.c_str(), R_OK | X_OK, AT_EACCESS) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return restart::system_error("cannot read the directory", directory);
  }
  const auto names = container_names(directory);
  const bool has_too_many = !names && names.error().system_error == EOVERFLOW;
  return has_too_many ? std::optional(names.error()) : std::nullopt;
}

/// Returns, as text, the names of the first directories directly below `directory` that have
/// containers; empty if there are none.
std::string directories_with_containers(const std::string& directory) {
  constexpr std::size_t most_named = 3;
  const auto names = restart::list_directory(AT_FDCWD, directory);
  if (!names) return {};
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : *names) {
    const std::string path = in_directory(directory, name);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    if (containers_in(path, "").empty() && containers_in(in_directory(path, "mcr"), "").empty())
      continue;
    if (count == most_named) return text + ", …";
    text += (count++ == 0 ? "" : ", ") + path;
  }
  return text;
}

/// Returns the error that the directory has no container of a job. Its text says what the directory
/// has instead.
Error no_container_in(const std::string& directory) {
  for (const std::string& closed : {directory, in_directory(directory, "mcr")}) {
    if (auto error = why_closed(closed)) return *std::move(error);
  }
  const std::string inner = in_directory(directory, "mcr");
  struct stat status {};
  if (::lstat(inner.c_str(), &status) == 0 && S_ISLNK(status.st_mode) && !leads_nowhere_else(inner))
    return link_not_followed(inner, status);
  std::string text = directory + ": it and its mcr/ have no container";
  if (const std::string packed = packed_container_in(directory); !packed.empty()) {
    text = directory + ": it and its mcr/ have no container that a job wrote; " + packed +
           " is a container that `mcr pack` made: give the path of that file";
  } else if (const std::string below = directories_with_containers(directory); !below.empty()) {
    text += "; these directories below it have containers: " + below +
            ". Name one of them, or the set that `mcr latest " + directory + "` names";
  }
  return Error{Cause::system, std::move(text), ENOENT};
}

std::string bundle_prefix(const restart::ContainerPlace& place, const restart::Stub& stub) {
  return restart::bundle_name(place.masked_name, stub.container_directory, stub.launch, stub.part)
      .prefix;
}

/// Returns the stub's containers in a place whose names begin with `prefix`, and the bundles that have
/// a set of that prefix, if the stub's reader trusts their owners.
std::vector<NamedContainer> believed_containers(const restart::ContainerPlace& place,
                                                const std::string& prefix,
                                                const restart::Stub& stub, restart::Look& look) {
  const auto opened = look.open(place);
  if (!opened) return {};
  std::vector<NamedContainer> found;
  std::set<restart::FileIdentity> seen;  // a file may have many names
  const auto take = [&](const std::string& name, const std::string& set) {
    const std::string path = in_directory(place.directory, name);
    const auto file = file_there(path);
    if (!file || !seen.insert(*file).second || (!set.empty() && !has_set(path, set))) return;
    found.push_back({path, set, {}});
  };
  if (const auto names = look.containers(*opened, prefix)) {
    for (const std::string& name : *names) take(name, {});
  }
  const auto bundles = look.containers(*opened, bundle_prefix(place, stub));
  if (bundles && stub.rank_count == 1) {
    for (const std::string& name : *bundles) {
      if (restart::parse_bundle_name(name)) take(name, prefix);
    }
  }
  std::erase_if(found, [&](NamedContainer& container) {
    const auto reader = opened->container(restart::name_of(container.path));
    const auto status = reader ? (*reader)->status() : Result<struct stat>(reader.error());
    if (status) container.file = restart::FileIdentity(*status);
    // With container_dir=../NAME, another directory's set may have containers of the same names.
    if (reader && (*reader)->set().bundled.empty() && !place.fits((*reader)->set())) return true;
    return !reader && reader.error().cause == Cause::usage;  // another user's container
  });
  return found;
}

/// Looks for containers from the stub's present path, then from the path at which the stub was
/// written.
std::vector<NamedContainer> containers_of_stub(const std::string& path, const restart::Stub& stub,
                                               restart::Look& look) {
  for (const restart::ContainerPlace& place : restart::container_places(stub, path, "none")) {
    auto found = believed_containers(place, place.prefix, stub, look);
    if (!found.empty()) return found;
  }
  for (const restart::ContainerPlace& place : restart::places_above(stub, path, false)) {
    auto found = believed_containers(place, place.prefix, stub, look);
    if (found.empty() && stub.rank_count == 1)
      found = believed_containers(place, bundle_prefix(place, stub), stub, look);
    if (!found.empty()) return found;
  }
  return {};
}

/// Returns the log line about the removal of the stub's set; empty if there is none.
std::string removal_of(const std::string& path, const restart::Stub& stub) {
  for (const restart::ContainerPlace& place : restart::container_places(stub, path, "none")) {
    const auto opened = place.open();
    if (!opened || !*opened) continue;
    if (auto line = restart::removed_set(**opened, place.distinct_prefix)) return *std::move(line);
  }
  return {};
}

}  // namespace

std::string in_directory(const std::string& directory, const std::string& name) {
  if (directory == ".") return name;
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

bool leads_nowhere_else(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return false;
  if (!S_ISLNK(status.st_mode)) return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
  const auto home = File::open(AT_FDCWD, restart::parent_of(path), O_PATH | O_DIRECTORY);
  return home && restart::follow_links_no_weaker_than_target(*home, restart::name_of(path));
}

bool is_container(const File& file) {
  Bytes head(restart::UserBlock::bytes);
  return file.read_at(0, head).has_value() && restart::read_user_block(head).has_value();
}

std::vector<NamedContainer> containers_in(const std::string& directory, const std::string& prefix) {
  std::vector<NamedContainer> found;
  const auto names = container_names(directory);
  if (!names) return found;
  std::set<restart::FileIdentity> seen;  // a file may have many names
  for (const std::string& name : *names) {
    const std::string path = in_directory(directory, name);
    const auto file = file_there(path);
    if (!file || !seen.insert(*file).second) continue;
    if (name.starts_with(prefix)) {
      found.push_back({path, {}, {}});
    } else if (restart::parse_bundle_name(name) && has_set(path, prefix)) {
      found.push_back({path, prefix, {}});
    }
  }
  return found;
}

Result<NamedByArgument> look_up_argument(const std::string& argument) {
  struct stat status {};
  std::vector<NamedContainer> found;
  if (argument.empty()) {
    return Error{Cause::usage,
                 "the name is empty; name a container, a stub or a directory of checkpoints. If "
                 "`$(mcr latest DIR)` was to give the name, it found no whole set"};
  }
  if (::stat(argument.c_str(), &status) != 0) {
    const Error missing = restart::system_error("cannot find", argument);
    std::string beginning = restart::name_of(argument);
    if (beginning.ends_with('*')) beginning.pop_back();  // as `mcr verify` names a set
    found = containers_in(restart::parent_of(argument), beginning);
    if (found.empty() && beginning.starts_with("set-")) {
      found = containers_of_distinct_name(
          restart::parent_of(argument),
          [&](const std::string& distinct) { return distinct.starts_with(beginning); });
    }
    if (found.empty()) found = MCR_TRY(containers_of_short_name(argument));
    if (found.empty()) return why_closed(restart::parent_of(argument)).value_or(missing);
    return NamedByArgument{std::move(found), {}};
  }
  if (S_ISDIR(status.st_mode)) {
    found = containers_in(argument, "");
    if (const std::string below = in_directory(argument, "mcr"); leads_nowhere_else(below)) {
      for (NamedContainer& container : containers_in(below, ""))
        found.push_back(std::move(container));
    }
    if (found.empty()) return no_container_in(argument);
    return NamedByArgument{std::move(found), {}};
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{Cause::usage, argument + " is neither a file nor a directory"};
  }
  File file = MCR_TRY(File::open(AT_FDCWD, argument, O_RDONLY | O_NONBLOCK));
  Bytes head(restart::Stub::max_bytes);
  head.resize(MCR_TRY(file.read_some_at(0, head)));
  if (!restart::looks_like_stub(head)) return NamedByArgument{{{argument, {}, {}}}, {}};
  auto stub = restart::read_stub_file(file);
  if (!stub) return Error{stub.error().cause, argument + ": " + stub.error().message};
  restart::Look look;
  found = containers_of_stub(argument, *stub, look);
  if (const std::string line = found.empty() ? removal_of(argument, *stub) : ""; !line.empty())
    return Error{Cause::system, argument + " is a stub, and its set was removed: " + line, ENOENT};
  if (found.empty() && look.problem()) return *look.problem();
  if (found.empty()) {
    return Error{Cause::system,
                 argument + " is a stub, but no container of its set is in " +
                     restart::parent_of(argument) + "/" + stub->container_directory +
                     " or where the stub was written. The data may still be in the stage: `mcr "
                     "status` shows the stage, `mcr recover` brings the data to storage",
                 ENOENT};
  }
  return NamedByArgument{std::move(found), std::move(file)};
}

Result<std::vector<NamedContainer>> find_named_containers(const std::string& argument) {
  return MCR_TRY(look_up_argument(argument)).containers;
}

}  // namespace mcr::aggregation
