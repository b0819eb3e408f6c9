// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/team_directory.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "restart/base/lock.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/remove_tree.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/stage.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {

using namespace stage_files;

namespace {

// Without a dot, so that it is not taken for a launch's directory.
constexpr const char* directory_name = "replicas";
constexpr const char* team_name = "team";
constexpr const char* turns_name = "turns";
constexpr std::array all_boxes{
    TeamDirectory::Box::made,    TeamDirectory::Box::out,  TeamDirectory::Box::sent,
    TeamDirectory::Box::refused, TeamDirectory::Box::held, TeamDirectory::Box::asked,
    TeamDirectory::Box::given,   TeamDirectory::Box::safe, TeamDirectory::Box::agreed};

const char* box_name(TeamDirectory::Box box) {
  switch (box) {
    case TeamDirectory::Box::made:
      return "made";
    case TeamDirectory::Box::out:
      return "out";
    case TeamDirectory::Box::sent:
      return "sent";
    case TeamDirectory::Box::refused:
      return "refused";
    case TeamDirectory::Box::held:
      return "held";
    case TeamDirectory::Box::asked:
      return "asked";
    case TeamDirectory::Box::given:
      return "given";
    case TeamDirectory::Box::safe:
      return "safe";
    case TeamDirectory::Box::agreed:
      return "agreed";
  }
  return "made";
}

Result<std::optional<File>> hold(int directory, const char* name) {
  File file = MCR_TRY(File::open(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW));
  if (!MCR_TRY(lock_in_turns(file, LockKind::exclusive, turns))) return std::optional<File>();
  return std::optional(std::move(file));
}

bool is_held(int directory, const std::string& name) {
  const auto file = File::open(directory, name, O_RDWR | O_NOFOLLOW);
  if (!file) return false;
  const auto locked = try_lock(*file, LockKind::shared);
  return locked && !*locked;
}

}  // namespace

std::string TeamDirectory::path_in(Box box, const std::string& name) {
  return std::string(box_name(box)) + "/" + name;
}

Result<TeamDirectory> TeamDirectory::make(const std::string& stage) {
  const File opened = MCR_TRY(open_stage(stage));
  const std::string path = stage + "/" + directory_name;
  MCR_TRY(make_directory(opened.descriptor(), directory_name, path));
  File directory = MCR_TRY(open_directory(opened.descriptor(), directory_name));
  MCR_TRY(check_private(directory, path));
  for (const Box box : all_boxes)
    MCR_TRY(make_directory(directory.descriptor(), box_name(box), path + "/" + box_name(box)));
  return TeamDirectory(path, std::move(directory));
}

Result<std::optional<TeamDirectory>> TeamDirectory::find(const std::string& stage) {
  const std::string path = stage + "/" + directory_name;
  auto opened = open_directory(AT_FDCWD, stage);
  if (opened) MCR_TRY(check_stage(*opened, stage));
  auto directory =
      opened ? open_directory(opened->descriptor(), directory_name) : std::move(opened);
  if (!directory && directory.error().system_error == ENOENT) return std::optional<TeamDirectory>();
  if (!directory) return directory.error();
  MCR_TRY(check_private(*directory, path));
  return std::optional(TeamDirectory(path, std::move(*directory)));
}

Result<std::optional<File>> TeamDirectory::join_team() const {
  return hold(descriptor(), team_name);
}

bool TeamDirectory::has_team() const { return is_held(descriptor(), team_name); }

Result<std::optional<File>> TeamDirectory::give_turns() const {
  return hold(descriptor(), turns_name);
}

bool TeamDirectory::gives_turns() const { return is_held(descriptor(), turns_name); }

bool TeamDirectory::is_locked(Box box, const std::string& name) const {
  return is_held(descriptor(), path_in(box, name));
}

Result<std::vector<std::string>> TeamDirectory::list(Box box) const {
  return list_directory(descriptor(), box_name(box));
}

Result<File> TeamDirectory::create(Box box, const std::string& name) const {
  MCR_TRY(remove(box, name));
  return File::open(descriptor(), path_in(box, name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
}

Result<File> TeamDirectory::open(Box box, const std::string& name) const {
  return File::open(descriptor(), path_in(box, name), O_RDONLY | O_NOFOLLOW);
}

Result<void> TeamDirectory::move(const std::string& name, Box from, Box to) const {
  const std::string old_path = path_in(from, name);
  const std::string new_path = path_in(to, name);
  if (system_calls().renameat(descriptor(), old_path.c_str(), descriptor(), new_path.c_str()) != 0)
    return system_error("cannot move", path_ + "/" + old_path);
  return {};
}

Result<void> TeamDirectory::remove(Box box, const std::string& name) const {
  return unlink_if_there(descriptor(), path_in(box, name));
}

bool TeamDirectory::has(Box box, const std::string& name) const {
  return exists(descriptor(), path_in(box, name));
}

std::string TeamDirectory::name_of_launch(const std::string& launch_directory,
                                          const std::string& word) {
  return name_of(launch_directory) + "." + word;
}

Result<void> TeamDirectory::remove_leftovers() const {
  std::vector<std::string> launches = MCR_TRY(launch_directories(parent_of(path_)));
  const auto is_of_launch = [&](const std::string& name) {
    return std::any_of(launches.begin(), launches.end(), [&](const std::string& launch) {
      return name.starts_with(name_of_launch(launch, ""));
    });
  };
  for (const Box box : {Box::made, Box::out, Box::sent, Box::refused, Box::safe, Box::agreed}) {
    for (const std::string& name : list(box).value_or({})) {  // earlier builds had fewer boxes
      if (is_of_launch(name)) continue;
      // In made/ there may be a directory with the parts of a replica that was to be brought back.
      MCR_TRY(remove_tree(descriptor(), path_in(box, name)));
    }
  }
  for (const Box box : {Box::asked, Box::given}) {
    for (const std::string& name : list(box).value_or({}))
      if (!is_locked(box, name)) MCR_TRY(remove(box, name));
  }
  return {};
}

}  // namespace mcr::restart
