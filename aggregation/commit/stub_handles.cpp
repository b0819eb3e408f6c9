// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/stub_handles.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "aggregation/commit/put_back.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/read_marks.hpp"
#include "restart/base/system.hpp"
#include "restart/format/stub.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;
using restart::leads_to;
using restart::name_of;
using restart::parent_of;
using restart::PartBegin;
using restart::PartId;
using restart::present_path;
using restart::system_calls;
using restart::without_deleted_mark;

namespace {

/// True if the descriptor is in the first quarter of the limit. The other three quarters are left
/// for parts, which need descriptors more than stubs do.
bool is_in_first_quarter(const File& file) {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
         static_cast<rlim_t>(file.descriptor()) < limit.rlim_cur / 4;
}

/// Returns a file that is not open if `stub` is not open or descriptors are few.
File second_descriptor(const File& stub) {
  if (!stub.is_open()) return {};
  auto again = File::open(AT_FDCWD, restart::link_path(stub.descriptor()), O_PATH);
  return again && is_in_first_quarter(*again) ? *std::move(again) : File();
}

struct TimeSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

/// True if the name was removed from `directory` within `span`, and no file has the name now.
bool is_removal_in(const TimeSpan& span, const StubHandles::Removal& removal,
                   const std::string& directory) {
  if (removal.time_ns < span.begin_ns || removal.time_ns > span.end_ns) return false;
  if (name_of(removal.path).starts_with(restart::temporary_prefix))
    return false;  // put back by this leader
  struct stat there {};
  return parent_of(removal.path) == directory &&
         system_calls().fstatat(AT_FDCWD, removal.path.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0;
}

/// True if the file still holds the stub of that part.
bool is_stub_of(const File& stub, const PartId& part) {
  const auto readable =
      File::open(AT_FDCWD, restart::link_path(stub.descriptor()), O_RDONLY | O_NONBLOCK);
  const auto content =
      readable ? restart::read_stub_file(*readable) : Result<restart::Stub>(readable.error());
  return content && content->part == part;
}

/// Returns how the stub lost its last name; nothing if it has one.
std::optional<StubHandles::Removal> removal_of(const File& stub) {
  const auto status = stub.is_open() ? stub.status() : Result<struct stat>(Error{});
  if (!status || status->st_nlink != 0) return std::nullopt;
  // The last status change of a file without a name is its removal.
  return StubHandles::Removal{without_deleted_mark(present_path(stub)),
                              restart::changed_ns(*status)};
}

}  // namespace

Result<void> StubHandles::listen(const restart::LaunchDirectory& directory) {
  const std::lock_guard lock(mutex_);
  launch_ = &directory;
  socket_ = MCR_TRY(restart::StubSocket::listen(directory.descriptor()));
  return {};
}

int StubHandles::descriptor() const {
  const std::lock_guard lock(mutex_);
  return socket_ ? socket_->descriptor() : -1;
}

void StubHandles::receive() {
  const std::lock_guard lock(mutex_);
  release_removed();
  if (!socket_) return;
  for (auto& message : socket_->take())
    hold(message.part, std::move(message.stub), message.modified_ns);
  if (stubs_.size() >= look_again_at_) forget_what_left_the_stage();
}

/// Forgets parts that left the stage without a drain, because they were taken back and dropped.
void StubHandles::forget_what_left_the_stage() {
  using State = restart::LaunchDirectory::State;
  std::erase_if(stubs_, [&](const auto& entry) {
    return !launch_->is_in(State::open, entry.first) &&
           !launch_->is_in(State::published, entry.first);
  });
  std::erase_if(directories_, [](const auto& entry) { return entry.second.expired(); });
  look_again_at_ = std::max(most_stubs, 2 * stubs_.size());
}

std::shared_ptr<File> StubHandles::directory_of(const std::string& path) {
  auto opened = File::open(AT_FDCWD, path, O_PATH | O_DIRECTORY);
  const auto status = opened ? opened->status() : Result<struct stat>(opened.error());
  if (!status) return nullptr;
  std::weak_ptr<File>& known = directories_[FileIdentity(*status)];
  auto directory = known.lock();
  if (directory == nullptr) known = directory = std::make_shared<File>(*std::move(opened));
  return directory;
}

void StubHandles::hold(const PartId& part, File stub,
                       std::optional<std::uint64_t> stub_written_ns) {
  const auto status = stub.status();
  if (!status || !S_ISREG(status->st_mode)) return;
  Handle handle;
  handle.stub_written_ns = stub_written_ns;
  handle.identity = FileIdentity(*status);
  const bool is_kept = stubs_.size() < most_stubs && is_in_first_quarter(stub) &&
                       !restart::keeps_names_of_open_files(stub);
  if (is_kept) {
    handle.stub = std::move(stub);
  } else {
    const std::string path = present_path(stub);
    if (path.empty()) return;
    handle.directory = directory_of(parent_of(path));
    handle.name = name_of(path);
    if (handle.directory == nullptr) return;
  }
  stubs_.insert_or_assign(part, std::move(handle));
}

void StubHandles::remember(const PartBegin& begin) {
  const std::lock_guard lock(mutex_);
  if (stubs_.contains(begin.part)) return;
  auto file = File::open(AT_FDCWD, begin.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return;
  file->leave_access_time();
  const auto status = file->status();
  if (!status || !is_own_file(begin, *status)) return;
  if (is_our_empty_file(begin, *status)) {  // the stub comes with the flush or the close
    hold(begin.part, *std::move(file), {});
    return;
  }
  const auto bytes = file->read_all(restart::Stub::max_bytes);
  if (!bytes) return;
  const auto stub = restart::read_stub(*bytes);
  if (stub && stub->part == begin.part)
    hold(begin.part, *std::move(file), restart::modified_ns(*status));
}

void StubHandles::remember_found(const PartBegin& begin, const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (stubs_.contains(begin.part)) return;
  auto file = File::open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  if (!status || status->st_uid != ::geteuid()) return;
  // Of a part that replaced an older file, no inode number is known: what was found may be a copy.
  if (begin.file_inode != status->st_ino) return;
  const auto stub = restart::read_stub_file(*file);
  if (stub && stub->part == begin.part) hold(begin.part, *std::move(file), {});
}

File StubHandles::take(const PartId& part) {
  const std::lock_guard lock(mutex_);
  const auto known = stubs_.find(part);
  if (known == stubs_.end()) return {};
  File stub = std::move(known->second.stub);
  stubs_.erase(known);
  keep_former(second_descriptor(stub));
  return stub;
}

void StubHandles::forget(const PartId& part) {
  const std::lock_guard lock(mutex_);
  const auto known = stubs_.find(part);
  if (known == stubs_.end()) return;
  keep_former(std::move(known->second.stub));
  stubs_.erase(known);
}

File StubHandles::open_again(const PartId& part) const {
  const std::lock_guard lock(mutex_);
  const auto known = stubs_.find(part);
  if (known == stubs_.end() || !known->second.stub_written_ns) return {};
  return second_descriptor(known->second.stub);
}

void StubHandles::keep_former(File stub) {
  if (!stub.is_open()) return;
  if (former_.size() == most_former) former_.pop_front();
  former_.push_back({std::move(stub), {}});
}

void StubHandles::release_removed() {
  for (Former& former : former_) {
    if (auto removal = removal_of(former.stub)) {
      former.removal = *std::move(removal);
      former.stub = File();
    }
  }
}

StubHandles::Found StubHandles::find(const PartId& part) const {
  const std::lock_guard lock(mutex_);
  const auto known = stubs_.find(part);
  if (known == stubs_.end()) return {};
  const Handle& handle = known->second;
  Found found;
  found.device = handle.identity.device;
  found.inode = handle.identity.inode;
  std::string directory;
  if (handle.stub.is_open()) {
    const auto status = handle.stub.status();
    if (!status) return {};
    found.path = present_path(handle.stub);
    if (!found.path.empty() && leads_to(AT_FDCWD, found.path, handle.identity)) {
      found.fate = Fate::present;
      return found;
    }
    directory = found.path.empty() ? std::string() : parent_of(without_deleted_mark(found.path));
  } else {
    directory = present_path(*handle.directory);
    if (leads_to(handle.directory->descriptor(), handle.name, handle.identity) &&
        !directory.empty()) {
      found.fate = Fate::present;
      found.path = (directory == "/" ? "" : directory) + "/" + handle.name;
      return found;
    }
  }
  // The stub is not under its known name. It was removed just now, or renamed within its directory,
  // or it had a second link and lost its first name.
  if (handle.stub.is_open() && !handle.stub.has_name()) {
    found.fate = Fate::removed;
    if (const auto status = handle.stub.status()) found.removed_ns = restart::changed_ns(*status);
    found.path = without_deleted_mark(found.path);
    return found;
  }
  found.path.clear();
  const auto names = directory.empty() ? Result<std::vector<std::string>>(Error{})
                                       : restart::list_directory(AT_FDCWD, directory);
  if (names) {
    for (const std::string& name : *names) {
      const std::string path = (directory == "/" ? "" : directory) + "/" + name;
      if (!leads_to(AT_FDCWD, path, handle.identity)) continue;
      if (handle.directory != nullptr) handle.name = name;
      found.fate = Fate::present;
      found.path = path;
      return found;
    }
  }
  // Without an open descriptor of the file, its inode number may have been reused.
  found.fate = handle.stub.is_open() ? Fate::elsewhere : Fate::unknown;
  if (!handle.stub.is_open()) found.device = found.inode = 0;
  return found;
}

bool StubHandles::was_removed_from(const std::string& directory,
                                   std::chrono::milliseconds period) const {
  constexpr std::size_t most_asked = 256;
  // Compares local clocks. If a server's clock differs by more than `period`, no removal is seen.
  const std::uint64_t now_ns = restart::clock_ns(CLOCK_REALTIME_COARSE);
  const auto period_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(period).count());
  const TimeSpan recently{now_ns - period_ns, now_ns + period_ns};
  const auto was_removed = [&](const File& stub) {
    const auto removal = removal_of(stub);
    return removal && is_removal_in(recently, *removal, directory);
  };
  const std::lock_guard lock(mutex_);
  if (std::any_of(former_.begin(), former_.end(), [&](const Former& former) {
        return former.stub.is_open() ? was_removed(former.stub)
                                     : is_removal_in(recently, former.removal, directory);
      }))
    return true;
  std::size_t asked = 0;
  return std::any_of(stubs_.begin(), stubs_.end(), [&](const auto& entry) {
    return ++asked <= most_asked && was_removed(entry.second.stub);
  });
}

File StubHandles::open_to_read(const PartId& part) const {
  const std::lock_guard lock(mutex_);
  const auto known = stubs_.find(part);
  if (known == stubs_.end() || !known->second.stub.is_open()) return {};
  // Ranks may send descriptors with O_PATH, through which neither content nor access lists can be read.
  const std::string link = restart::link_path(known->second.stub.descriptor());
  auto stub = File::open(AT_FDCWD, link, O_RDONLY | O_NONBLOCK);
  return stub ? *std::move(stub) : File();
}

bool StubHandles::may_have_been_copied(const PartId& part) {
  const std::lock_guard lock(mutex_);
  const auto known = stubs_.find(part);
  if (known == stubs_.end() || !known->second.stub.is_open()) return true;
  Handle& handle = known->second;
  const auto status = handle.stub.status();
  if (!status || handle.stub_written_ns != restart::modified_ns(*status) ||
      !is_stub_of(handle.stub, part))
    return true;
  if (handle.was_never_read) return false;
  handle.was_never_read = !restart::may_have_been_read(handle.stub);
  return !handle.was_never_read;
}

}  // namespace mcr::aggregation
