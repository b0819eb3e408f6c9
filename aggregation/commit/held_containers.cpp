// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/held_containers.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "restart/base/own_way.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {

using restart::Beside;
using restart::File;
using restart::FileIdentity;

namespace {

constexpr int to_hold = O_PATH | O_DIRECTORY;

Error cannot_open(const std::string& path, int number) {
  errno = number;
  return restart::system_error("cannot open", path);
}

/// Opens the file to which `name` leads by links that no other user can have put there. ELOOP: another link.
Result<File> open_by_trusted_links(const File& home, const std::string& name,
                                   const std::string& path, int flags) {
  const auto end = restart::follow_links_no_weaker_than_target(home, name);
  if (!end) return cannot_open(path, end.error().system_error);
  auto file = File::open(end->directory.descriptor(), end->name, flags | O_NOFOLLOW);
  return file ? std::move(file) : cannot_open(path, file.error().system_error);
}

/// A directory of containers, open, and the directory in which it lies.
struct Opened {
  File base;
  File directory;
  std::string base_path;
  std::string name;  ///< of `directory` in `base`
  bool is_linked = false;
};

/// Finds the directory above by "..", because the path does not name it.
Result<Opened> open_with_real_parent(const std::string& directory) {
  File inner = MCR_TRY(File::open(AT_FDCWD, directory, to_hold));
  File base = MCR_TRY(File::open(inner.descriptor(), "..", to_hold));
  std::string name = restart::name_of(restart::present_path(inner));
  const std::string base_path = directory == "/" ? directory : directory + "/..";
  return Opened{std::move(base), std::move(inner), base_path, std::move(name)};
}

Result<Opened> open_both(const std::string& directory, LinksToContainers links) {
  std::string name = restart::name_of(directory);
  if (!restart::is_plain_path(name)) return open_with_real_parent(directory);  // ".", "..", "x/"
  std::string base_path = restart::parent_of(directory);
  File base = MCR_TRY(File::open(AT_FDCWD, base_path, to_hold));
  struct stat entry {};
  if (restart::system_calls().fstatat(base.descriptor(), name.c_str(), &entry,
                                      AT_SYMLINK_NOFOLLOW) != 0)
    return restart::system_error("cannot open", directory);
  const bool is_link = S_ISLNK(entry.st_mode);
  auto inner = is_link ? open_by_trusted_links(base, name, directory, to_hold)
                       : File::open(base.descriptor(), name, to_hold | O_NOFOLLOW);
  if (is_link && !inner && inner.error().system_error == ELOOP) {
    if (links == LinksToContainers::any) return open_with_real_parent(directory);
    return link_not_followed(directory, entry);
  }
  if (!inner) return cannot_open(directory, inner.error().system_error);
  return Opened{std::move(base), *std::move(inner), std::move(base_path), std::move(name), is_link};
}

}  // namespace

HeldContainers::HeldContainers(File base, File directory, Beside beside, ContainersPlace place)
    : base_(std::move(base)),
      directory_(std::move(directory)),
      beside_(beside),
      place_(std::make_shared<const ContainersPlace>(std::move(place))) {}

Result<HeldContainers> HeldContainers::open(const std::string& directory, LinksToContainers links) {
  Opened opened = MCR_TRY(open_both(directory, links));
  const Beside beside = MCR_TRY(Beside::of(opened.base, opened.directory));
  ContainersPlace place{directory, std::move(opened.base_path), std::move(opened.name),
                        beside.directories(), opened.is_linked};
  return HeldContainers(std::move(opened.base), std::move(opened.directory), beside,
                        std::move(place));
}

Result<HeldContainers> HeldContainers::in(File base, const std::string& base_path,
                                          const std::string& name) {
  File directory = MCR_TRY(restart::open_beneath(base.descriptor(), name, to_hold));
  const Beside beside = MCR_TRY(Beside::of(base, directory));
  ContainersPlace place{(base_path == "/" ? "" : base_path) + "/" + name, base_path, name,
                        beside.directories()};
  return HeldContainers(std::move(base), std::move(directory), beside, std::move(place));
}

Result<File> HeldContainers::open_to_list() const {
  return File::open(directory_.descriptor(), ".", O_RDONLY | O_DIRECTORY);
}

Result<File> HeldContainers::open_file(const std::string& path) const {
  constexpr int flags = O_RDONLY | O_NONBLOCK;
  const std::string name = restart::name_of(path);
  auto file = File::open(directory_.descriptor(), name, flags | O_NOFOLLOW);
  if (file) return file;
  if (file.error().system_error != ELOOP) return cannot_open(path, file.error().system_error);
  auto linked = open_by_trusted_links(directory_, name, path, flags);
  if (linked || linked.error().system_error != ELOOP) return linked;
  struct stat link {};
  if (restart::system_calls().fstatat(directory_.descriptor(), name.c_str(), &link,
                                      AT_SYMLINK_NOFOLLOW) != 0)
    return cannot_open(path, errno);
  return link_not_followed(path, link);
}

Result<std::shared_ptr<const HeldContainers>> HeldByPath::hold(const std::string& directory,
                                                               LinksToContainers links) {
  const auto known = held_.find(directory);
  if (known != held_.end()) return known->second;
  auto held =
      std::make_shared<const HeldContainers>(MCR_TRY(HeldContainers::open(directory, links)));
  return held_.emplace(directory, std::move(held)).first->second;
}

Error link_not_followed(const std::string& path, const struct stat& link) {
  const std::string whose =
      restart::is_own_link(link)
          ? "other users can have put there, or that leads through one of theirs"
          : restart::user_text(link.st_uid) + " made";
  return Error{Cause::system,
               path + " is a symbolic link that " + whose +
                   ", and mcr does not follow it; name the file or directory to which it leads",
               EPERM};
}

Error replaced_meanwhile(const std::string& path) {
  return Error{
      Cause::system,
      path + " was replaced during the command; nothing was done there, run the command again",
      EPERM};
}

Result<File> ContainersPlace::open_base(int flags) const {
  File home = MCR_TRY(File::open(AT_FDCWD, base, flags));
  const struct stat outer = MCR_TRY(home.status());
  struct stat inner {};
  const auto look = [&](int how) {
    return restart::system_calls().fstatat(home.descriptor(), name.c_str(), &inner, how) == 0;
  };
  if (!look(AT_SYMLINK_NOFOLLOW)) return replaced_meanwhile(base);
  const bool is_followed = S_ISLNK(inner.st_mode) && restart::is_own_link(inner);
  if (is_followed && !look(0)) return replaced_meanwhile(base);
  const restart::DirectoryPair now{FileIdentity(outer), FileIdentity(inner), outer.st_uid,
                                   inner.st_uid};
  if (now != directories) return replaced_meanwhile(base);
  return home;
}

Result<HeldContainers> ContainersPlace::hold() const {
  auto held = MCR_TRY(HeldContainers::open(directory, LinksToContainers::trusted));
  if (held.beside().directories() != directories) return replaced_meanwhile(directory);
  return held;
}

}  // namespace mcr::aggregation
