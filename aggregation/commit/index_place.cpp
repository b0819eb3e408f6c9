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

/// True if `path` leads to the entry `name` of the open directory; "." is the directory itself.
bool leads_to_entry(const std::string& path, const File& directory, const std::string& name) {
  struct stat first {};
  struct stat second {};
  return ::stat(path.c_str(), &first) == 0 &&
         restart::system_calls().fstatat(directory.descriptor(), name.c_str(), &second, 0) == 0 &&
         FileIdentity(first) == FileIdentity(second);
}

}  // namespace

Result<File> open_parent_beneath(const File& base, const std::string& path, int flags) {
  const std::string above = parent_of(path);
  return above == "." ? File::open(base.descriptor(), above, flags)
                      : restart::open_beneath(base.descriptor(), above, flags);
}

IndexPlace place_in_tree(const HeldContainers& home, const restart::SetIdentity& set,
                         const std::string& path) {
  const std::string& above = home.place()->base;
  const std::string& name = home.place()->name;
  const restart::ContainerName written =
      restart::container_name(set.masked_name, "mcr", set.launch, set.sequence);
  IndexPlace place{path, {}, name};
  // A path is absolute if its file was renamed before the commit, or lies further below.
  if (path.starts_with('/')) {
    const std::string present = restart::present_path(home.base());
    const std::string root = present.empty() ? restart::real_path(above) : present;
    const bool is_below = path.starts_with(root == "/" ? root : root + "/");
    const std::string below = is_below ? path.substr(root == "/" ? 1 : root.size() + 1)
                                       : restart::path_tail(path, written.depth + 1);
    if (restart::is_plain_path(below)) place.below = below;
    return place;
  }
  std::string tail = path;
  if (leads_to_entry(written.base, home.base(), ".")) {
    place.text = written.base;
  } else if (const std::string sibling = name_of(written.base);
             restart::is_plain_path(sibling) &&
             leads_to_entry(written.base, home.base(), sibling)) {
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

Result<OpenNative> open_native(const HeldContainers& home, const IndexPlace& place,
                               const restart::NativeMember& native, uid_t owner, int flags,
                               NamesByInode& names) {
  const auto is_it = [&](const Result<File>& file) {
    const auto status = file ? file->status() : Result<struct stat>(file.error());
    return status && S_ISREG(status->st_mode) && status->st_uid == owner &&
           status->st_ino == native.inode &&
           static_cast<std::uint64_t>(status->st_size) == native.size;
  };
  const int base = home.base().descriptor();
  if (!place.below.empty()) {
    auto file = restart::open_beneath(base, place.below, flags);
    if (is_it(file)) return OpenNative{*std::move(file), place.text, false};
  }
  const std::string aside =
      std::string(restart::native_members_directory) + "/" + restart::aside_name(native.inode);
  auto kept = restart::open_beneath(home.directory().descriptor(), aside, flags);
  if (is_it(kept)) return OpenNative{*std::move(kept), home.place()->directory + "/" + aside, true};
  if (!place.below.empty()) {
    const auto there = open_parent_beneath(home.base(), place.below, O_RDONLY | O_DIRECTORY);
    const std::string name = there ? names.find(*there, native.inode) : std::string();
    auto file = name.empty() ? Result<File>(Error{})
                             : restart::open_beneath(there->descriptor(), name, flags);
    if (is_it(file)) return OpenNative{*std::move(file), parent_of(place.text) + "/" + name, false};
  }
  return Error{Cause::damaged, place.text + ", a native file of the set (rank " +
                                   std::to_string(native.rank) + "), was replaced or removed"};
}

}  // namespace mcr::aggregation
