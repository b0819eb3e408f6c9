// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/container_places.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "restart/base/closed_directories.hpp"
#include "restart/base/own_way.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/replacers.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::restart {
namespace {

/// True if the path is relative, and ".." occurs at its beginning only.
bool is_modest(std::string_view container_directory) {
  bool down = false;
  std::string_view rest = container_directory;
  while (!rest.empty()) {
    const std::string_view component = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), component.size() + 1));
    if (component.empty()) return false;  // absolute, or "//"
    if (component == ".." && down) return false;
    down = down || component != "..";
  }
  return down;
}

/// Nothing if the error means that no directory lies at the place for this user; else the error.
Result<std::optional<OpenContainers>> none_or(const Error& error) {
  if (means_no_way(error.system_error)) return std::optional<OpenContainers>();
  return error;
}

}  // namespace

bool is_below_allowed(const std::string& directory, std::string_view allow) {
  // This comes before real_path(), which makes a system call for each directory in a path.
  if (allow == "none") return false;
  const std::string real = real_path(directory);
  if (real.empty()) return false;
  while (!allow.empty()) {
    const std::string_view item = allow.substr(0, allow.find(':'));
    allow.remove_prefix(std::min(allow.size(), item.size() + 1));
    const std::string allowed = real_path(std::string(item));
    if (allowed.empty()) continue;
    if (real == allowed || allowed == "/" || real.starts_with(allowed + "/")) return true;
  }
  return false;
}

Result<OpenContainers::Key> OpenContainers::key() const {
  const auto status = MCR_TRY(directory_.status());
  return Key{FileIdentity(status), owner_, is_allowed_,
             beside_ ? std::optional(beside_->outer_identity()) : std::nullopt,
             beside_ && beside_->is_shared_by_all()};
}

bool OpenContainers::believes(uid_t writer) const {
  if (is_allowed_) return true;
  return beside_ ? beside_->believes(writer, owner_) : is_believed(writer, owner_);
}

Result<Beside> OpenContainers::beside() const {
  if (beside_) return *beside_;
  const File above = MCR_TRY(File::open(descriptor(), "..", O_PATH | O_DIRECTORY));
  return Beside::of(above, directory_);
}

Result<bool> OpenContainers::believes_author_of(const File& file) const {
  if (is_allowed_) return true;
  const struct stat status = MCR_TRY(file.status());
  return believes(MCR_TRY(beside()).author(status));
}

Result<std::shared_ptr<ContainerReader>> OpenContainers::container(const std::string& name) const {
  // The owner is checked first, also of what cannot be opened: a container of a user who is not
  // believed, whole or damaged, counts as missing.
  struct stat status {};
  if (system_calls().fstatat(descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error("cannot open", name);
  if (believes(status.st_uid)) {
    File file = MCR_TRY(File::open(descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (MCR_TRY(believes_author_of(file))) return ContainerReader::read(std::move(file), name);
    status = MCR_TRY(file.status());
    if (believes(status.st_uid))
      return Error{
          Cause::usage,
          name +
              " lies where other users may put files, so the container is not trusted; to "
              "read it, take away their write permission on its directory (chmod go-w), or "
              "set allow= to its directory"};
  }
  return Error{Cause::usage,
               name + " belongs to " + user_text(status.st_uid) + ", but the stub belongs to " +
                   user_text(owner_) +
                   ", so the container is not trusted; to read it, set allow= to its directory"};
}

bool ContainerPlace::fits(const SetIdentity& set) const {
  return name_beside_containers(set.masked_name, container_dir) ==
         name_beside_containers(masked_name, container_dir);
}

Result<std::optional<OpenContainers>> ContainerPlace::open() const {
  if (problem) return *problem;
  if (is_allowed || below.empty()) {
    auto opened = File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!opened) return none_or(opened.error());
    if (is_allowed) return std::optional(OpenContainers(*std::move(opened)));
    if (MCR_TRY(opened->status()).st_uid != owner) return std::optional<OpenContainers>();
    return std::optional(OpenContainers(*std::move(opened), owner, {}));
  }
  const auto base = from != nullptr ? File::open(from->descriptor(), up, O_PATH | O_DIRECTORY)
                                    : File::open(AT_FDCWD, above, O_PATH | O_DIRECTORY);
  if (!base) return none_or(base.error());
  const struct stat outer = MCR_TRY(base->status());
  auto opened = open_beneath(base->descriptor(), below, O_RDONLY | O_DIRECTORY);
  if (!opened) {
    const int number = opened.error().system_error;
    return number == ELOOP || number == ENOTDIR ? open_linked(*base, outer)
                                                : none_or(opened.error());
  }
  // The Beside applies only if no directory lies between `base` and the containers, because other
  // users may be able to write to a directory in between.
  const bool is_beside = below.find('/') == std::string::npos;
  auto beside = is_beside ? std::optional(MCR_TRY(Beside::of(*base, *opened))) : std::nullopt;
  const bool are_files_closed = beside && from != nullptr &&
                                (others_may_write(outer) || !is_believed(outer.st_uid, owner)) &&
                                kept_out(*from, outer).any();
  if (are_files_closed) beside = beside->for_closed_files();
  return std::optional(OpenContainers(*std::move(opened), owner, beside));
}

/// If a link lies in place of the directory, follows it like an absolute path in the stub. The
/// link's maker must be the stub's owner, root, or the owner of the directory above.
Result<std::optional<OpenContainers>> ContainerPlace::open_linked(const File& base,
                                                                  const struct stat& outer) const {
  const auto none = [] { return std::optional<OpenContainers>(); };
  if (!is_plain_path(below) || below.find('/') != std::string::npos) return none();
  struct stat link {};
  if (system_calls().fstatat(base.descriptor(), below.c_str(), &link, AT_SYMLINK_NOFOLLOW) != 0)
    return none_or(system_error("cannot look at", directory));
  if (!S_ISLNK(link.st_mode)) return none();
  if (!is_believed(link.st_uid, owner) && link.st_uid != outer.st_uid) return none();
  if (others_may_only_add(outer)) return none();
  auto opened = File::open(base.descriptor(), below, O_RDONLY | O_DIRECTORY);
  if (!opened) return none_or(opened.error());
  return std::optional(OpenContainers(*std::move(opened), owner, {}));
}

Result<bool> ContainerPlace::is_open_to_strangers(const OpenContainers& place,
                                                  const std::string& stub_path) const {
  const bool is_absolute = below.empty();
  if (is_allowed || (!is_absolute && below.find('/') == std::string::npos)) return false;
  const FileIdentity there(MCR_TRY(place.directory().status()));
  // A neighbour's link could lead to a directory that is closed to him, and so looks trustworthy.
  if (is_absolute) {
    const auto way = open_by_trusted_way(directory);
    if (!way && way.error().system_error == ELOOP) return true;
    if (!way) return way.error();
    if (FileIdentity(MCR_TRY(way->status())) != there) return true;
  }
  // The program may have removed or replaced the stub meanwhile, so its directory is looked up by its path. Who could
  // exchange that directory could have exchanged the stub.
  const std::string resolved = real_path(stub_path);
  const std::string& path = resolved.empty() ? stub_path : resolved;
  const File here = MCR_TRY(File::open(AT_FDCWD, parent_of(path), O_PATH | O_DIRECTORY));
  const auto trusted = may_trust(place.directory(), here, owner);
  // This user may not look at a directory above, so it is not known who may write there.
  if (!trusted && trusted.error().system_error == EACCES) return true;
  return !MCR_TRY(trusted);
}

// The owner of the file at the path does not count if the stub's origin is known, because
// directories on the path may have been replaced.
uid_t owner_of(const Stub& stub, const std::string& path) {
  if (stub.origin) return stub.origin->owner;
  struct stat status {};
  const bool is_there = system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) == 0;
  return is_there ? status.st_uid : ::geteuid();
}

std::vector<ContainerPlace> container_places(const Stub& stub, const std::string& stub_path,
                                             const std::string& allow) {
  std::vector<ContainerPlace> places;
  if (!is_modest(stub.container_directory)) return places;
  const uid_t owner = owner_of(stub, stub_path);
  const std::string resolved = real_path(stub_path);
  const std::string stub_directory = parent_of(resolved.empty() ? stub_path : resolved);
  std::shared_ptr<const File> from;
  std::optional<Error> problem;
  if (stub.origin) {
    auto opened = open_directory_of(resolved.empty() ? stub_path : resolved, stub.origin->file);
    if (opened) {
      from = std::make_shared<const File>(*std::move(opened));
    } else if (means_no_resources(opened.error().system_error)) {
      problem = opened.error();
    }
  }
  for (const std::string& masked_name : stub.masked_names) {
    if (stub.origin && from == nullptr && !problem) break;
    const ContainerName name =
        container_name(masked_name, stub.container_directory, stub.launch, stub.sequence);
    const std::string relative = name.directory_from_stub(stub.container_directory);
    const std::size_t down =
        relative.rfind("../") == std::string::npos ? 0 : relative.rfind("../") + 3;
    ContainerPlace place;
    place.masked_name = masked_name;
    place.container_dir = stub.container_directory;
    place.directory = stub_directory + "/" + relative;
    place.prefix = name.prefix;
    place.distinct_prefix = name.distinct_prefix;
    place.above = stub_directory + "/" + relative.substr(0, down);
    place.below = relative.substr(down);
    place.from = from;
    place.problem = problem;
    place.up = down == 0 ? "." : relative.substr(0, down);
    place.owner = owner;
    place.is_allowed = is_below_allowed(place.directory, allow);
    places.push_back(std::move(place));
  }
  for (const std::string& masked_name : stub.masked_names) {
    const ContainerName name =
        container_name(masked_name, stub.container_directory, stub.launch, stub.sequence);
    if (!name.directory.starts_with('/') || name.directory.find("/../") != std::string::npos)
      continue;
    ContainerPlace place;
    place.masked_name = masked_name;
    place.container_dir = stub.container_directory;
    place.directory = name.directory;
    place.prefix = name.prefix;
    place.distinct_prefix = name.distinct_prefix;
    place.owner = owner;
    place.is_allowed = is_below_allowed(name.directory, allow);
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace mcr::restart
