// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/stage_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>

#include "restart/base/name_text.hpp"
#include "restart/base/own_way.hpp"
#include "restart/base/replacers.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::restart::stage_files {

namespace {
constexpr std::string_view journal_suffix = ".journal";

bool is_made_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}
}  // namespace

std::string launch_directory_name(const std::string& node, const std::string& launch) {
  return safe_name(node, 80) + "." + safe_name(launch, 80);
}

const char* state_name(LaunchDirectory::State state) {
  switch (state) {
    case LaunchDirectory::State::open:
      return "open";
    case LaunchDirectory::State::published:
      return "published";
    case LaunchDirectory::State::committed:
      return "committed";
  }
  return "open";
}

std::string journal_path(LaunchDirectory::State state, const PartId& part) {
  return std::string(state_name(state)) + "/" + part.text() + std::string(journal_suffix);
}

std::optional<PartId> part_of_journal(std::string_view name) {
  if (!name.ends_with(journal_suffix)) return std::nullopt;
  return PartId::parse(name.substr(0, name.size() - journal_suffix.size()));
}

bool is_file_of_launch(std::string_view name) {
  for (const std::string_view known :
       {std::string_view(lock_name), std::string_view(start_name), std::string_view(notice_name),
        std::string_view(clock_name), std::string_view(mark_name), std::string_view(report_name)}) {
    if (name == known) return true;
  }
  if (std::find(std::begin(leader_files::names), std::end(leader_files::names), name) !=
      std::end(leader_files::names))
    return true;
  if (!name.starts_with(leader_files::trace_prefix)) return false;
  name.remove_prefix(leader_files::trace_prefix.size());
  if (name.ends_with(leader_files::unfinished_suffix))
    name.remove_suffix(leader_files::unfinished_suffix.size());
  return is_made_of(name, "0123456789");
}

bool is_name_in(std::string_view subdirectory, std::string_view name) {
  constexpr std::string_view digits = "0123456789";
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  const std::size_t dot = name.find('.');
  if (subdirectory == parts_directory) return PartId::parse(name).has_value();
  if (subdirectory == native_directory || subdirectory == refused_directory) {  // safe_name()
    return std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-';
    });
  }
  if (subdirectory == frames_directory) return is_made_of(name, "0123456789abcdef-.");
  if (subdirectory == ranks_directory && name.starts_with(".new-"))
    return is_made_of(name.substr(5), hexadecimal);
  if (subdirectory == ranks_directory || subdirectory == pool_directory) {
    return dot != std::string_view::npos && is_made_of(name.substr(0, dot), digits) &&
           is_made_of(name.substr(dot + 1), hexadecimal);
  }
  return part_of_journal(name).has_value();  // open, published, committed
}

std::string bytes_path(const PartId& part) {
  return std::string(parts_directory) + "/" + part.text();
}

std::string pool_path(std::uint32_t rank, unsigned slot) {
  return std::string(pool_directory) + "/" + std::to_string(rank) + "." + std::to_string(slot);
}

/// Refuses a directory that is not this user's or not closed to other users.
Result<void> check_private(const File& directory, const std::string& name) {
  const struct stat status = MCR_TRY(directory.status());
  if (!S_ISDIR(status.st_mode)) {
    return Error{Cause::usage, "the stage " + name + " is not a directory"};
  }
  if (status.st_uid != ::geteuid()) {
    return Error{Cause::usage, "the stage " + name + " belongs to user " +
                                   std::to_string(status.st_uid) +
                                   "; name a directory of your own with stage=DIRECTORY"};
  }
  if ((status.st_mode & 0777) != 0700) {
    return Error{Cause::usage, "the stage " + name + " is open to other users; run `chmod 700 " +
                                   name + "`, or name another directory with stage=DIRECTORY"};
  }
  return {};
}

namespace {

/// True if other users may exchange a symbolic link on the way to the stage, so that later processes would find another directory.
Result<bool> others_may_lead_away(const std::string& name) {
  const std::string from = name.starts_with('/') ? "/" : ".";
  const File start = MCR_TRY(File::open(AT_FDCWD, from, O_PATH | O_DIRECTORY));
  const std::string below = from == "/" ? name.substr(1) : name;
  if (open_beneath(start.descriptor(), below, O_PATH | O_DIRECTORY)) return false;  // no link
  const auto way = follow_trusted_links(start, name);
  if (!way && way.error().system_error == ELOOP) return true;
  if (!way) return way.error();
  for (const File& directory : way->links) {
    if (MCR_TRY(others_may_rename(directory, ::geteuid()))) return true;
  }
  return false;
}

}  // namespace

Result<void> check_stage(const File& directory, const std::string& name) {
  MCR_TRY(check_private(directory, name));
  auto found = others_may_rename(directory, ::geteuid());
  if (found && !*found) found = others_may_lead_away(name);
  if (!found)
    return Error{Cause::usage, "it is not known who may rename the stage " + name + " (" +
                                   found.error().message +
                                   "); name another directory with stage=DIRECTORY"};
  if (!*found) return {};
  return Error{Cause::usage,
               "other users may rename the stage " + name +
                   ", a directory above it or a link on the way, and put another in its place; "
                   "name a directory with "
                   "stage=DIRECTORY above which only you and root may write, or one in a sticky "
                   "directory such as /dev/shm"};
}

namespace {

/// Gives a new directory mode 0700 if the umask reduced its mode. If other users may write to
/// `parent`, another directory of this user may have that name now, so only an empty directory gets
/// the mode.
Result<void> undo_umask(int parent, const std::string& name) {
  struct stat status {};
  const bool is_there =
      system_calls().fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && (status.st_mode & 0777) == 0700) return {};
  const File made = MCR_TRY(File::open(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  status = MCR_TRY(made.status());
  const std::string link = link_path(made.descriptor());
  const bool is_ours = status.st_uid == ::geteuid();
  if (is_ours && system_calls().fchmodat(AT_FDCWD, link.c_str(), 0700, 0) != 0)
    return system_error("cannot set the mode of", name);
  // The directory can be listed only with the new mode. If it is not empty, the old mode is
  // restored.
  const auto names =
      is_ours ? list_directory(AT_FDCWD, link) : Result<std::vector<std::string>>(Error{});
  if (names && names->empty()) return {};
  if (is_ours) (void)system_calls().fchmodat(AT_FDCWD, link.c_str(), status.st_mode & 07777, 0);
  errno = ESTALE;
  return system_error("another process replaced the directory", name);
}

/// True while the process that makes the directory has not undone the effect of its umask.
bool is_being_made(int parent, const std::string& name) {
  struct stat status {};
  return system_calls().fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & S_IRWXU) != S_IRWXU;
}

}  // namespace

Result<void> make_directory(int parent, const std::string& name, const std::string& path) {
  if (system_calls().mkdirat(parent, name.c_str(), 0700) == 0) {
    return undo_umask(parent, name);
  }
  if (errno == EEXIST) return {};
  return system_error("cannot make directory", path);
}

Result<File> open_directory(int parent, const std::string& name) {
  // Another rank may be making the directory. A directory that stays without these rights is refused after 0.1 s.
  constexpr timespec pause{0, 4'000'000};
  for (int looks = 0; looks < 25 && is_being_made(parent, name); ++looks)
    ::nanosleep(&pause, nullptr);
  auto opened = File::open(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened && (opened.error().system_error == ELOOP || opened.error().system_error == ENOTDIR)) {
    return Error{Cause::usage, "the stage " + name + " is not a directory", ENOTDIR};
  }
  return opened;
}

/// Opens the stage, and makes it if it is missing.
Result<File> open_stage(const std::string& stage) {
  MCR_TRY(make_directory(AT_FDCWD, stage, stage));
  File opened = MCR_TRY(open_directory(AT_FDCWD, stage));
  MCR_TRY(check_stage(opened, stage));
  return opened;
}

Result<void> unlink_if_there(int directory, const std::string& name) {
  if (system_calls().unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return system_error("cannot remove", name);
}

bool exists(int directory, const std::string& name) {
  struct stat status {};
  return system_calls().fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

void pause_briefly() {
  const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  ::nanosleep(&pause, nullptr);
}

Result<bool> lock_in_turns(const File& file, LockKind kind, int most_turns) {
  for (int turn = 0; turn < most_turns; ++turn) {
    if (turn > 0) pause_briefly();
    if (MCR_TRY(try_lock(file, kind))) return true;
  }
  return false;
}

}  // namespace mcr::restart::stage_files
