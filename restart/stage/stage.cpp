// SPDX-License-Identifier: BSD-3-Clause
// The launch's directory itself: how it is made, found, led, marked and removed.
#include "restart/stage/stage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <vector>

#include "restart/base/file_identity.hpp"
#include "restart/base/lock.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {

using namespace stage_files;

LaunchDirectory::LaunchDirectory(std::string path, File directory)
    : path_(std::move(path)), directory_(std::move(directory)) {}

Result<LaunchDirectory> LaunchDirectory::create(const std::string& stage, const std::string& node,
                                                const std::string& launch) {
  if (!stage.starts_with('/')) {
    return Error{Cause::usage, "stage=" + stage + " is not an absolute path"};
  }
  const std::string name = launch_directory_name(node, launch);
  const File parent = MCR_TRY(open_stage(stage));
  MCR_TRY(make_directory(parent.descriptor(), name, stage + "/" + name));
  File made = MCR_TRY(open_directory(parent.descriptor(), name));
  MCR_TRY(check_private(made, stage + "/" + name));
  LaunchDirectory directory(stage + "/" + name, std::move(made));
  MCR_TRY(directory.complete());
  if (!exists(directory.descriptor(), mark_name)) directory.write_mark();
  return directory;
}

void LaunchDirectory::write_mark() const {
  const auto own = directory_.status();
  const auto file = File::open(descriptor(), mark_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!own || !file) return;
  Bytes content;
  Writer writer(content);
  writer.u64(own->st_dev);
  writer.u64(own->st_ino);
  writer.u64(clock_ns(CLOCK_REALTIME));
  (void)file->write_at(0, content).has_value();
}

bool LaunchDirectory::is_marked() const {
  // The mark contains device, inode and birth time of its directory, and its own change time must
  // match. Other users cannot see the inode in a stage of mode 0700, and no process can set a
  // change time.
  constexpr std::uint64_t made_at_once_ns = 2'000'000'000;
  const auto own = directory_.status();
  const auto file = open_file_beneath(descriptor(), mark_name);
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  const auto content = file ? file->read_all(64) : Result<Bytes>(file.error());
  if (!own || !status || !content || content->size() != 24) return false;
  const auto number = [&](std::size_t at) {
    return little_endian(load<std::uint64_t>(content->data() + at));
  };
  const std::uint64_t changed_ns =
      static_cast<std::uint64_t>(status->st_ctim.tv_sec) * 1'000'000'000 +
      static_cast<std::uint64_t>(status->st_ctim.tv_nsec);
  const std::uint64_t said_ns = number(16);
  const std::uint64_t apart_ns = changed_ns > said_ns ? changed_ns - said_ns : said_ns - changed_ns;
  return status->st_uid == own->st_uid && status->st_nlink == 1 && number(0) == own->st_dev &&
         number(8) == own->st_ino && apart_ns < made_at_once_ns;
}

bool LaunchDirectory::is_of(const std::string& launch) const {
  return path_.ends_with("." + safe_name(launch, 80));
}

Result<void> LaunchDirectory::complete() const {
  for (const char* name : subdirectories)
    MCR_TRY(make_directory(descriptor(), name, path_ + "/" + name));
  return {};
}

Result<LaunchDirectory> LaunchDirectory::open(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == path.size()) {
    return Error{Cause::usage, path + " is not a directory in a stage"};
  }
  const std::string stage = path.substr(0, slash);
  const File parent = MCR_TRY(open_directory(AT_FDCWD, stage));
  MCR_TRY(check_stage(parent, stage));
  File directory = MCR_TRY(open_directory(parent.descriptor(), path.substr(slash + 1)));
  MCR_TRY(check_private(directory, path));
  return LaunchDirectory(path, std::move(directory));
}

Result<LaunchDirectory> LaunchDirectory::open_in(const std::string& stage,
                                                 const std::string& path) {
  const auto is_in_stage = [&]() -> Result<bool> {
    const File own = MCR_TRY(open_directory(AT_FDCWD, stage));
    MCR_TRY(check_stage(own, stage));
    const File parent = MCR_TRY(open_directory(AT_FDCWD, parent_of(path)));
    return FileIdentity(MCR_TRY(own.status())) == FileIdentity(MCR_TRY(parent.status()));
  };
  const bool is_ours = is_in_stage().value_or(false);
  LaunchDirectory directory =
      MCR_TRY(open(is_ours ? stage + "/" + name_of(path) : real_path(path)));
  if (!is_ours && !directory.is_marked()) {
    return Error{Cause::usage,
                 path + " is not in the stage " + stage + "; name its stage with stage=DIRECTORY"};
  }
  const bool is_complete =
      std::all_of(std::begin(subdirectories), std::end(subdirectories),
                  [&](const char* place) { return exists(directory.descriptor(), place); });
  if (!is_complete) MCR_TRY(directory.holds_a_launch_alone());
  return directory;
}

Result<void> LaunchDirectory::holds_a_launch_alone() const {
  const auto strange = [&](const std::string& name) {
    return Error{Cause::usage,
                 path_ + "/" + name +
                     " is not a file of mcr, so its directory was not removed from the stage; move "
                     "the file elsewhere and run `mcr recover` again"};
  };
  for (const std::string& name : MCR_TRY(list_directory(descriptor(), "."))) {
    if (is_file_of_launch(name)) continue;
    const auto place = std::find(std::begin(subdirectories), std::end(subdirectories), name);
    if (place == std::end(subdirectories)) return strange(name);
    const auto inside = list_directory(descriptor(), name);
    if (!inside && inside.error().system_error == ENOENT) continue;  // just removed
    for (const std::string& left : MCR_TRY(inside)) {
      if (!is_name_in(name, left)) return strange(name + "/" + left);
    }
  }
  return {};
}

Result<std::vector<std::string>> launch_directories(const std::string& stage) {
  auto opened = open_directory(AT_FDCWD, stage);
  if (!opened) {
    if (opened.error().system_error == ENOENT) return std::vector<std::string>{};
    return opened.error();
  }
  MCR_TRY(check_stage(*opened, stage));
  std::vector<std::string> paths;
  for (const std::string& name : MCR_TRY(list_directory(opened->descriptor(), "."))) {
    struct stat status {};
    if (system_calls().fstatat(opened->descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        S_ISDIR(status.st_mode) && name.find('.') != std::string::npos) {
      paths.push_back(stage + "/" + name);
    }
  }
  return paths;
}

Result<void> LaunchDirectory::mark_native(const std::string& pattern) const {
  const std::string path = std::string(native_directory) + "/" + safe_name(pattern, 60);
  const File file = MCR_TRY(File::open(descriptor(), path, O_WRONLY | O_CREAT | O_NOFOLLOW));
  return file.write_at(0, as_bytes(pattern));  // only people read this content
}

bool LaunchDirectory::is_marked_native(const std::string& pattern) const {
  return exists(descriptor(), std::string(native_directory) + "/" + safe_name(pattern, 60));
}

Result<std::optional<File>> LaunchDirectory::try_lead() const {
  File file = MCR_TRY(File::open(descriptor(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW));
  // A leader holds this lock exclusively. has_leader() holds it shared for a moment; on a busy
  // machine, that moment lasts until its process is scheduled again.
  constexpr int most_turns = 1000;
  int seen_led = 0;
  for (int turn = 0; turn < most_turns && seen_led < turns; ++turn) {
    if (MCR_TRY(try_lock(file, LockKind::exclusive))) {
      // The previous leader may have removed the directory, and the lock file with it, in between.
      if (!is_still_named(file, descriptor(), lock_name)) return std::optional<File>();
      // For has_led_since().
      const std::uint64_t now = clock_ns(CLOCK_REALTIME);
      const struct timespec time {
        static_cast<time_t>(now / 1'000'000'000), static_cast<long>(now % 1'000'000'000)
      };
      const struct timespec times[2] = {time, time};
      (void)::futimens(file.descriptor(), times);
      return std::optional<File>(std::move(file));
    }
    if (MCR_TRY(try_lock(file, LockKind::shared))) {
      unlock(file);
    } else {
      ++seen_led;
    }
    pause_briefly();
  }
  return std::optional<File>();
}

bool LaunchDirectory::has_led_since(std::uint64_t time_ns) const {
  const auto file = File::open(descriptor(), lock_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file || try_lock(*file, LockKind::shared).value_or(true)) return false;
  const auto status = file->status();
  return status && modified_ns(*status) < time_ns;
}

bool LaunchDirectory::has_leader() const {
  const auto file = File::open(descriptor(), lock_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return file && !try_lock(*file, LockKind::shared).value_or(true);
}

Result<std::size_t> LaunchDirectory::uncommitted() const {
  return MCR_TRY(list(State::published)).size();
}

bool LaunchDirectory::claim(const char* name, std::uint64_t valid_ns) const {
  for (int turn = 0; turn < 2; ++turn) {
    const auto claim = File::open(descriptor(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (claim || claim.error().system_error != EEXIST) return true;
    struct stat status {};
    if (system_calls().fstatat(descriptor(), name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;  // just ended
    const std::uint64_t claimed_ns = modified_ns(status);
    const std::uint64_t now = clock_ns(CLOCK_REALTIME);
    // A claim from the future means that the clock was set back. Such a claim is ignored.
    if (now >= claimed_ns && now - claimed_ns < valid_ns) return false;
    (void)system_calls().unlinkat(descriptor(), name, 0);
  }
  return true;
}

bool LaunchDirectory::claim_start() const {
  constexpr std::uint64_t loading_ns = 500'000'000;
  if (!claim(start_name, loading_ns)) return false;
  if (!has_leader()) return true;
  end_start();  // a leader came since the caller looked
  return false;
}

bool LaunchDirectory::claim_report() const {
  constexpr std::uint64_t together_ns = 1'000'000'000;
  return claim(report_name, together_ns);
}

void LaunchDirectory::end_start() const {
  (void)system_calls().unlinkat(descriptor(), start_name, 0);
}

Result<std::uint64_t> LaunchDirectory::used_bytes() const {
  std::uint64_t sum = 0;
  for (const char* place : subdirectories) {
    const auto names = list_directory(descriptor(), place);
    if (!names && names.error().system_error == ENOENT) continue;  // a stage of an earlier build
    for (const std::string& name : MCR_TRY(names)) {
      struct stat status {};
      const std::string path = std::string(place) + "/" + name;
      if (system_calls().fstatat(descriptor(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        sum += static_cast<std::uint64_t>(status.st_blocks) * 512;
      }
    }
  }
  return sum;
}

constexpr std::size_t notice_bytes = 5 * sizeof(std::uint64_t);

Result<void> LaunchDirectory::write_notice(const Notice& notice) const {
  const File file = MCR_TRY(File::open(descriptor(), notice_name, O_WRONLY | O_CREAT | O_NOFOLLOW));
  Bytes content;
  Writer writer(content);
  writer.u64(notice.stage_bytes);
  writer.u64(notice.commit_failed ? 1 : 0);
  writer.u64(notice.automatic_limit);
  writer.u64(notice.sets_behind);
  writer.u64(notice.seen_ns);
  return file.write_at(0, content);
}

LaunchDirectory::Notice LaunchDirectory::notice() const {
  const auto file = File::open(descriptor(), notice_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  // Every create reads the notice, so one pread() must suffice.
  std::array<std::byte, notice_bytes> content{};
  const auto size = file ? file->read_some_at(0, content) : Result<std::size_t>(file.error());
  const auto status = size ? file->status() : Result<struct stat>(size.error());
  if (!status || *size < 16) return {};
  Notice notice;
  notice.stage_bytes = little_endian(load<std::uint64_t>(content.data()));
  notice.commit_failed = load<std::uint64_t>(content.data() + 8) != 0;
  if (*size >= 24)  // not from a leader of an earlier build
    notice.automatic_limit = little_endian(load<std::uint64_t>(content.data() + 16));
  if (*size >= notice_bytes) {
    notice.sets_behind = little_endian(load<std::uint64_t>(content.data() + 24));
    notice.seen_ns = little_endian(load<std::uint64_t>(content.data() + 32));
  }
  notice.written_ns = modified_ns(*status);
  return notice;
}

Result<void> LaunchDirectory::write_clock_behind(std::uint64_t ns) const {
  const File file = MCR_TRY(File::open(descriptor(), clock_name, O_WRONLY | O_CREAT | O_NOFOLLOW));
  Bytes content;
  Writer(content).u64(ns);
  return file.write_at(0, content);
}

std::uint64_t LaunchDirectory::clock_behind_ns() const {
  const auto content = read_file(descriptor(), clock_name, 64);
  if (!content || content->size() < 8) return 0;
  return little_endian(load<std::uint64_t>(content->data()));
}

Result<bool> LaunchDirectory::remove_if_done() const {
  // Holds the pool's files open after they are unlinked, so that their memory (gigabytes) is freed
  // only after the stage's lock is released. Ranks that want to enter wait for that lock.
  std::vector<File> nameless;
  // 1. Lock the stage exclusively: no process is then between create() and join(), and processes
  //    that
  // want to enter wait for the lock. Another leader that ends at the same time waits too.
  const std::size_t slash = path_.rfind('/');
  const std::string name = path_.substr(slash + 1);
  const File stage = MCR_TRY(open_directory(AT_FDCWD, path_.substr(0, slash)));
  if (!MCR_TRY(lock_in_turns(stage, LockKind::exclusive, turns))) return false;
  MCR_TRY(holds_a_launch_alone());
  for (const State state : {State::open, State::committed}) {
    if (!MCR_TRY(list(state)).empty()) return false;
  }
  for (const PartId& part : MCR_TRY(list(State::published))) {
    const auto read = journal(State::published, part);
    if (read || read.error().system_error != ENOENT) return false;
  }
  // 2. Remove the presences of dead processes. If a process still lives, the directory stays.
  for (const std::string& presence : MCR_TRY(list_directory(descriptor(), ranks_directory))) {
    const std::string path = std::string(ranks_directory) + "/" + presence;
    const auto file = File::open(descriptor(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file) {
      if (file.error().system_error == ENOENT) continue;
      return file.error();
    }
    if (!MCR_TRY(try_lock(*file, LockKind::exclusive))) return false;
    MCR_TRY(unlink_if_there(descriptor(), path));
  }
  // 3. A part cannot be begun without a presence, so everything that is left is orphaned.
  for (const char* place : subdirectories) {
    const auto names = list_directory(descriptor(), place);
    if (!names) continue;
    for (const std::string& left : *names) {
      if (!is_name_in(place, left)) continue;
      const std::string path = std::string(place) + "/" + left;
      if (auto file = File::open(descriptor(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
        nameless.push_back(*std::move(file));
      MCR_TRY(unlink_if_there(descriptor(), path));
    }
    (void)system_calls().unlinkat(descriptor(), place, AT_REMOVEDIR);
  }
  for (const std::string& left : MCR_TRY(list_directory(descriptor(), "."))) {
    if (is_file_of_launch(left)) (void)system_calls().unlinkat(descriptor(), left.c_str(), 0);
  }
  if (system_calls().unlinkat(stage.descriptor(), name.c_str(), AT_REMOVEDIR) != 0) {
    if (errno != ENOENT) return system_error("cannot remove", path_);
  }
  return true;
}

}  // namespace mcr::restart
