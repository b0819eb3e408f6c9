// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/index_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "restart/base/fitting_names.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/native_members.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;
using restart::name_of;
using restart::parent_of;

namespace {

bool same_directory(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         FileIdentity(first) == FileIdentity(second);
}

}  // namespace

IndexPlace place_in_tree(const std::string& container, const restart::SetIdentity& set,
                         const std::string& path) {
  const std::string directory = parent_of(container);
  const std::string above = parent_of(directory);
  const std::string name = name_of(directory);
  const restart::ContainerName written =
      restart::container_name(set.masked_name, "mcr", set.launch, set.sequence);
  IndexPlace place{path, above, {}, name};
  // A path is absolute if its file was renamed before the commit, or lies further below.
  if (path.starts_with('/')) {
    const std::string root = restart::real_path(above);
    const bool is_below = path.starts_with(root == "/" ? root : root + "/");
    const std::string below = is_below ? path.substr(root == "/" ? 1 : root.size() + 1)
                                       : restart::path_tail(path, written.depth + 1);
    if (restart::is_plain_path(below)) place.below = below;
    return place;
  }
  std::string tail = path;
  if (same_directory(written.base, above)) {
    place.text = written.base;
  } else if (const std::string sibling = name_of(written.base);
             restart::is_plain_path(sibling) &&
             same_directory(written.base, above + "/" + sibling)) {
    place.text = written.base;  // container_dir=../mcr
    place.container_dir = "../" + name;
    tail = sibling + "/" + tail;
  } else {
    place.text = above;  // the whole tree was moved
  }
  const std::string shown = place.container_dir == name ? tail : tail.substr(tail.find('/') + 1);
  place.text = (place.text == "/" ? "/" : place.text + "/") + shown;
  if (restart::is_plain_path(tail)) place.below = tail;
  return place;
}

std::string NamesByInode::find(const File& directory, ino_t inode) {
  const auto status = directory.status();
  if (!status) return {};
  const auto [known, is_new] = directories_.try_emplace(FileIdentity(*status));
  if (is_new) {
    const auto add = [&](std::string name) {
      struct stat file {};
      if (restart::system_calls().fstatat(directory.descriptor(), name.c_str(), &file,
                                          AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISREG(file.st_mode))
        known->second.emplace(file.st_ino, std::move(name));
      return true;
    };
    (void)restart::for_each_name(directory.descriptor(), ".", add).has_value();
  }
  const auto found = known->second.find(inode);
  return found == known->second.end() ? std::string() : found->second;
}

Result<OpenNative> open_native(const std::string& container, const IndexPlace& place,
                               const restart::NativeMember& native, uid_t owner, int flags,
                               NamesByInode& names) {
  const auto is_it = [&](const Result<File>& file) {
    const auto status = file ? file->status() : Result<struct stat>(file.error());
    return status && S_ISREG(status->st_mode) && status->st_uid == owner &&
           status->st_ino == native.inode &&
           static_cast<std::uint64_t>(status->st_size) == native.size;
  };
  const auto base = File::open(AT_FDCWD, place.base, O_PATH | O_DIRECTORY);
  if (base && !place.below.empty()) {
    auto file = restart::open_beneath(base->descriptor(), place.below, flags);
    if (is_it(file)) return OpenNative{*std::move(file), place.text, false};
  }
  std::string aside = restart::place_of_native(parent_of(container), native, {}, owner);
  if (!aside.empty()) {
    auto file = File::open(AT_FDCWD, aside, flags | O_NOFOLLOW | O_NONBLOCK);
    if (is_it(file)) return OpenNative{*std::move(file), std::move(aside), true};
  }
  if (base && !place.below.empty()) {
    constexpr int listed = O_RDONLY | O_DIRECTORY;
    const std::string above = parent_of(place.below);
    const auto home = above == "." ? File::open(base->descriptor(), above, listed)
                                   : restart::open_beneath(base->descriptor(), above, listed);
    const std::string name = home ? names.find(*home, native.inode) : std::string();
    auto file = name.empty() ? Result<File>(Error{})
                             : restart::open_beneath(home->descriptor(), name, flags);
    if (is_it(file)) return OpenNative{*std::move(file), parent_of(place.text) + "/" + name, false};
  }
  return Error{Cause::damaged, place.text + ", a native file of the set (rank " +
                                   std::to_string(native.rank) + "), was replaced or removed"};
}

Error is_exchanged(const std::string& path) {
  return Error{
      Cause::system,
      path + " was replaced during the command; nothing was removed there, run the command again",
      EPERM};
}

Result<File> open_above(const std::string& base, const std::string& containers,
                        const FileIdentity& identity, int flags) {
  File home = MCR_TRY(File::open(AT_FDCWD, base, flags));
  struct stat there {};
  const auto look = [&](int how) {
    return restart::system_calls().fstatat(home.descriptor(), containers.c_str(), &there, how) == 0;
  };
  if (!look(AT_SYMLINK_NOFOLLOW)) return is_exchanged(base);
  const bool is_followed = S_ISLNK(there.st_mode) && restart::is_own_link(there);
  if (is_followed && !look(0)) return is_exchanged(base);
  if (FileIdentity(there) != identity) return is_exchanged(base);
  return home;
}

}  // namespace mcr::aggregation
