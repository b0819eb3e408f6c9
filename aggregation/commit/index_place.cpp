// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/index_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
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

std::string in(const std::string& directory, const std::string& below) {
  return (directory == "/" ? "/" : directory + "/") + below;
}

/// Returns the length of the first `count` components of a path; 0 if it has no component after them.
std::size_t end_of_components(const std::string& path, std::size_t count) {
  std::size_t end = 0;
  for (; count > 0; --count) {
    end = path.find('/', end == 0 ? 0 : end + 1);
    if (end == std::string::npos) return 0;
  }
  return end;
}

/// The most directories in which a renamed directory's files are looked for.
constexpr std::size_t most_directories = 1000;

/// True if the note in the directory of containers says that the native file at `path` is a member of the set.
bool is_noted(const HeldContainers& home, const restart::SetIdentity& set, const std::string& path,
              const File& file) {
  const auto status = file.status();
  const auto note = status ? restart::native_note_in(home.place()->directory, path, *status)
                           : std::optional<restart::NativeNote>();
  if (!note || !note->is_complete) return false;
  const restart::Stub& stub = note->stub;
  return stub.launch == set.launch && stub.sequence == set.sequence &&
         std::find(stub.masked_names.begin(), stub.masked_names.end(), set.masked_name) !=
             stub.masked_names.end();
}

/// Returns the path, from the base, that the directory `step` was renamed to. Looks in the directories beside it
/// for the file `below` them; `is_member(file, path)` says whether it is the member. Empty if none is.
template <typename IsMember>
std::string find_renamed(const File& base, const std::string& step, const std::string& below,
                         const IsMember& is_member) {
  const auto above = open_parent_beneath(base, step, O_RDONLY | O_DIRECTORY);
  if (!above) return {};
  std::string found;
  std::size_t count = 0;
  const auto look = [&](const std::string& name) {
    const std::string path = name + "/" + below;
    const std::string there =
        step.find('/') == std::string::npos ? name : parent_of(step) + "/" + name;
    const auto file = restart::open_beneath(above->descriptor(), path, O_PATH);
    // Only directories count: a directory of steps may hold any number of other files.
    if (!file && file.error().system_error == ENOTDIR) return true;
    if (is_member(file, there + "/" + below)) found = there;
    return found.empty() && ++count < most_directories;
  };
  (void)restart::for_each_name(above->descriptor(), ".", look).has_value();
  return found;
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
  if (set.steps_up && *set.steps_up > 0) {
    const std::string step = restart::path_tail(written.base, *set.steps_up);
    const bool is_there =
        restart::is_plain_path(step) && leads_to_entry(written.base, home.base(), step);
    place.container_dir = restart::container_dir_of(*set.steps_up, name);
    tail = step + "/" + tail;
    place.text = is_there ? in(written.base, path) : in(above, tail);
    if (restart::is_plain_path(tail)) place.below = tail;
    return place;
  }
  // Containers of earlier builds do not tell container_dir=; then the directories that exist do.
  if (leads_to_entry(written.base, home.base(), ".")) {
    place.text = written.base;
  } else if (const std::string sibling = name_of(written.base);
             !set.steps_up && restart::is_plain_path(sibling) &&
             leads_to_entry(written.base, home.base(), sibling)) {
    place.text = written.base;  // container_dir=../mcr
    place.container_dir = "../" + name;
    tail = sibling + "/" + tail;
  } else {
    place.text = above;  // the whole tree was moved
  }
  const std::string shown = place.container_dir == name ? tail : tail.substr(tail.find('/') + 1);
  place.text = in(place.text, shown);
  if (restart::is_plain_path(tail)) place.below = tail;
  return place;
}

std::string NamesByInode::find(const File& directory, ino_t inode) {
  const auto status = directory.status();
  if (!status) return {};
  const auto entry = directories_.try_emplace(FileIdentity(*status));
  auto& inodes = entry.first->second;
  if (entry.second) {
    const auto add = [&](std::string name) {
      struct stat file {};
      if (restart::system_calls().fstatat(directory.descriptor(), name.c_str(), &file,
                                          AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISREG(file.st_mode))
        inodes.emplace(file.st_ino, std::move(name));
      return true;
    };
    (void)restart::for_each_name(directory.descriptor(), ".", add).has_value();
  }
  const auto found = inodes.find(inode);
  return found == inodes.end() ? std::string() : found->second;
}

Result<OpenNative> open_native(const HeldContainers& home, const restart::SetIdentity& set,
                               const IndexPlace& place, const restart::NativeMember& native,
                               uid_t owner, int flags, NamesByInode& names) {
  const auto is_it = [&](const File& file) {
    const auto status = file.status();
    return status && S_ISREG(status->st_mode) && status->st_uid == owner &&
           status->st_ino == native.inode &&
           static_cast<std::uint64_t>(status->st_size) == native.size;
  };
  constexpr int to_hold = O_PATH | O_DIRECTORY;
  // Opens the file at `path` below the open directory, and the directory in which it lies.
  const auto open_in = [&](const File& above, const std::string& path, const std::string& shown,
                           bool is_aside) -> Result<OpenNative> {
    File directory = MCR_TRY(open_parent_beneath(above, path, to_hold));
    File file = MCR_TRY(restart::open_beneath(directory.descriptor(), name_of(path), flags));
    return OpenNative{std::move(file), shown, is_aside, std::move(directory)};
  };
  const auto is_member_at = [&](const Result<OpenNative>& found) {
    return found && is_it(found->file);
  };
  if (!place.below.empty()) {
    auto found = open_in(home.base(), place.below, place.text, false);
    if (is_member_at(found)) return found;
  }
  const std::string aside =
      std::string(restart::native_members_directory) + "/" + restart::aside_name(native.inode);
  auto kept = open_in(home.directory(), aside, home.place()->directory + "/" + aside, true);
  if (is_member_at(kept)) return kept;
  if (!place.below.empty()) {
    auto there = open_parent_beneath(home.base(), place.below, O_RDONLY | O_DIRECTORY);
    const std::string name = there ? names.find(*there, native.inode) : std::string();
    auto found = name.empty() ? Result<OpenNative>(Error{})
                              : open_in(*there, name, parent_of(place.text) + "/" + name, false);
    if (is_member_at(found)) return found;
  }
  const std::size_t end = end_of_components(place.below, set.steps_up.value_or(0));
  if (end > 0) {
    const std::string step = place.below.substr(0, end);
    const std::string below = place.below.substr(end + 1);
    const std::string& above = home.place()->base;
    const auto is_member = [&](const Result<File>& file, const std::string& path) {
      return file && is_it(*file) && is_noted(home, set, in(above, path), *file);
    };
    // Several sets may have been written below one path, and renamed to different ones.
    const auto [known, is_new] =
        names.renamed.try_emplace({in(above, step), set.launch, set.sequence});
    if (is_new) known->second = find_renamed(home.base(), step, below, is_member);
    const std::string there = known->second + "/" + below;
    auto found = known->second.empty() ? Result<OpenNative>(Error{})
                                       : open_in(home.base(), there, in(above, there), false);
    if (is_member_at(found) && is_noted(home, set, in(above, there), found->file)) return found;
  }
  return Error{Cause::damaged, place.text + ", a native file of the set (rank " +
                                   std::to_string(native.rank) + "), was replaced or removed"};
}

}  // namespace mcr::aggregation
