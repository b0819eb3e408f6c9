// SPDX-License-Identifier: BSD-3-Clause
#include "vol/driver/staged_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/lock.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/masked_name.hpp"
#include "vol/connector/info_string.hpp"
#include "vol/driver/open_path.hpp"
#include "vol/driver/spill.hpp"
#include "vol/job_end.hpp"
#include "vol/leader_start.hpp"
#include "vol/publish.hpp"

namespace mcr::vol {

namespace {

struct Table {
  std::mutex mutex;
  std::map<FileIdentity, std::weak_ptr<StagedFile>> files;
};
Table& table() {
  static Table& table = *new Table;  // never destroyed: files end after static destructors
  return table;
}

Result<FileIdentity> identity_of(int descriptor, const std::string& name) {
  struct stat status {};
  if (restart::system_calls().fstat(descriptor, &status) != 0)
    return restart::system_error("cannot look at", name);
  return FileIdentity{status.st_dev, status.st_ino};
}
Result<FileIdentity> identity_of(const restart::File& file) {
  return identity_of(file.descriptor(), file.name());
}

// Takes the part out of the stage again unless keep() was called.
class Unfinished {
 public:
  Unfinished(const restart::LaunchDirectory& directory, const restart::PartId& part)
      : directory_(&directory), part_(part) {}
  ~Unfinished() {
    if (directory_ != nullptr) (void)directory_->drop(part_).has_value();
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  void keep() { directory_ = nullptr; }

 private:
  const restart::LaunchDirectory* directory_;
  restart::PartId part_;
};

}  // namespace

Result<restart::Stub> read_stub_file(const restart::File& file) {
  return restart::read_stub(MCR_TRY(file.read_all(restart::Stub::max_bytes)));
}

Result<std::shared_ptr<StagedFile>> StagedFile::create(const CapturePlan& plan) {
  const restart::LaunchDirectory& directory = plan.stage->directory;
  const restart::Launcher& launcher = plan.stage->launcher;
  StagedPart part;
  part.stage = plan.stage;
  part.settings = plan.settings;
  auto made = MCR_TRY(directory.create_part(launcher.rank));
  Unfinished unfinished(directory, made.part);
  part.bytes = std::move(made.bytes);
  part.stale_bytes = made.reused_bytes;

  restart::PartBegin& begin = part.begin;
  begin.part = made.part;
  if (plan.place.status) {
    part.at_path = MCR_TRY(restart::File::open(AT_FDCWD, plan.place.path, O_RDWR | O_NOFOLLOW));
    begin.replaced = restart::Replaced::native_file;
    if (plan.place.status->st_size <= static_cast<off_t>(restart::Stub::max_bytes)) {
      if (const auto old = read_stub_file(part.at_path)) {
        begin.replaced = restart::Replaced::stub;
        begin.replaced_part = old->part;
      }
    }
  } else {
    part.at_path =
        MCR_TRY(restart::File::open(AT_FDCWD, plan.place.path, O_RDWR | O_CREAT | O_EXCL, 0666));
  }
  const struct stat status = MCR_TRY(part.at_path.status());
  part.identity = {status.st_dev, status.st_ino};
  part.group = status.st_gid;
  begin.path_as_passed = plan.path_as_passed;
  begin.path = plan.place.path;
  begin.directory_device = plan.place.directory_status.st_dev;
  begin.directory_inode = plan.place.directory_status.st_ino;
  begin.rank = launcher.rank;
  begin.rank_count = launcher.rank_count;
  begin.local_rank_count = launcher.local_rank_count;
  begin.node = launcher.node;
  begin.launch = *launcher.launch;
  begin.sequence = Process::get().next_sequence(plan.place.path);
  begin.masked_names = plan.masked_names;
  begin.presence = plan.stage->presence.name;
  begin.mode = status.st_mode & 07777;
  begin.begin_ns = realtime_ns();
  begin.settings = plan.settings->changed();
  part.durable = plan.settings->text("close") == "durable";
  // The journal before the stub: a stub without one would lead nowhere, and after a death here an
  // empty file is what native HDF5 would have left.
  part.journal = MCR_TRY(directory.begin(begin));
  if (begin.replaced == restart::Replaced::nothing) {
    MCR_TRY(part.at_path.write_at(0, restart::write_stub(stub_of(part))));
  }
  unfinished.keep();
  auto file = in_table(std::move(part));
  file->room_ = plan.room;
  return file;
}

// This launch's own part, and still published: taken back, no byte is copied.
Result<bool> StagedFile::withdraw(const restart::Stub& stub, StagedPart& part) {
  const restart::LaunchDirectory& directory = part.stage->directory;
  if (stub.launch_directory != directory.path()) return false;
  auto withdrawn = MCR_TRY(directory.withdraw(stub.part));
  if (!withdrawn) return false;
  part.begin = MCR_TRY(directory.journal(restart::LaunchDirectory::State::open, stub.part)).begin;
  part.begin.replaced = restart::Replaced::nothing;  // its own stub lies there already
  part.bytes = std::move(withdrawn->bytes);
  part.journal = std::move(withdrawn->journal);
  part.size = withdrawn->publish.size;
  part.written.add(0, part.size);
  return true;
}

// A new part of the same generation, which replaces the old one at publish.
Result<void> StagedFile::amend(const restart::Stub& stub, const ResolvedPath& place,
                               StagedPart& part) {
  const restart::LaunchDirectory& directory = part.stage->directory;
  const restart::Launcher& launcher = part.stage->launcher;
  const auto source = MCR_TRY(open_source(stub, place.path));
  auto made = MCR_TRY(directory.create_part(launcher.rank));
  Unfinished unfinished(directory, made.part);
  part.bytes = std::move(made.bytes);
  part.stale_bytes = made.reused_bytes;
  part.size = source->size();
  MCR_TRY(copy_source(*source, part.bytes));
  part.written.add(0, part.size);
  restart::PartBegin& begin = part.begin;
  begin.part = made.part;
  begin.path_as_passed = place.path;
  begin.path = place.path;
  begin.directory_device = place.directory_status.st_dev;
  begin.directory_inode = place.directory_status.st_ino;
  begin.rank = stub.rank;
  begin.rank_count = stub.rank_count;
  begin.local_rank_count = launcher.local_rank_count;
  begin.node = launcher.node;
  begin.launch = stub.launch;
  begin.sequence = stub.sequence;
  begin.masked_names = stub.masked_names;
  begin.presence = part.stage->presence.name;
  begin.replaced = restart::Replaced::stub;
  begin.replaced_part = stub.part;
  begin.mode = place.status ? place.status->st_mode & 07777 : 0600;
  begin.begin_ns = realtime_ns();
  begin.settings = part.settings->changed();
  part.journal = MCR_TRY(directory.begin(begin));
  unfinished.keep();
  return {};
}

Result<std::shared_ptr<StagedFile>> StagedFile::reopen(const restart::Stub& stub,
                                                       const std::string& path,
                                                       restart::File at_path) {
  Process& process = Process::get();
  const ResolvedPath place = MCR_TRY(resolve_path(path));
  StagedPart part;
  part.settings = MCR_TRY(process.settings(environment_info().settings, place.directory));
  const restart::Launcher launcher = process.launcher(*part.settings);
  if (!launcher.launch || !Process::is_owner())
    return Error{Cause::system, "it belongs to no launch", EPERM};
  part.stage = MCR_TRY(process.job_stage(*part.settings, launcher));
  ensure_leader(*part.stage, false);
  const struct stat status = MCR_TRY(at_path.status());
  part.identity = {status.st_dev, status.st_ino};
  part.group = status.st_gid;
  part.durable = part.settings->text("close") == "durable";
  if (!MCR_TRY(withdraw(stub, part))) MCR_TRY(amend(stub, place, part));
  part.at_path = std::move(at_path);
  auto file = in_table(std::move(part));
  file->wrote_ = true;
  // Opened again and again to append: never drained piece by piece, but native from now on.
  const bool again =
      stub.launch == *launcher.launch && process.next_sequence(place.path + "\n") > 0;
  if (again && file->part_.settings->text("appended") == "native") {
    for (const std::string& name : file->part_.begin.masked_names) {
      (void)file->part_.stage->directory.mark_native(restart::pattern_of(name)).has_value();
    }
    MCR_TRY(file->spill(nullptr));
  }
  return file;
}

std::shared_ptr<StagedFile> StagedFile::find(FileIdentity identity) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().files.find(identity);
  return found == table().files.end() ? nullptr : found->second.lock();
}

std::shared_ptr<StagedFile> StagedFile::in_table(StagedPart part) {
  const std::shared_ptr<StagedFile> file(new StagedFile(std::move(part)));
  const std::lock_guard lock(table().mutex);
  table().files[file->part_.identity] = file;
  return file;
}

void StagedFile::leave_table() {
  const std::lock_guard lock(table().mutex);
  std::erase_if(table().files, [&](const auto& entry) {
    const auto file = entry.second.lock();
    return file == nullptr || file.get() == this;
  });
}

StagedFile::~StagedFile() { leave_table(); }

Result<void> StagedFile::read(std::uint64_t offset, MutableByteSpan out) {
  if (native_) return native_->read(offset, out);
  const std::uint64_t end = std::min<std::uint64_t>(part_.size, offset + out.size());
  const auto there = static_cast<std::size_t>(end > offset ? end - offset : 0);
  const std::size_t got = MCR_TRY(part_.bytes.read_some_at(offset, out.first(there)));
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(got), out.end(), std::byte{0});
  if (offset >= part_.stale_bytes) return {};
  part_.written.for_gaps(offset, std::min(end, part_.stale_bytes),
                         [&](std::uint64_t begin, std::uint64_t gap_end) {
                           std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(begin - offset),
                                       gap_end - begin, std::byte{0});
                           return true;
                         });
  return {};
}

Result<void> StagedFile::write(std::uint64_t offset, ByteSpan data) {
  wrote_ = true;
  if (!native_ && offset + data.size() > room_) MCR_TRY(spill("the stage is full"));
  if (native_) return native_->write(offset, data);
  const auto written = part_.bytes.write_at(offset, data);
  if (!written) {
    MCR_TRY(spill(written.error().message.c_str()));
    return native_->write(offset, data);
  }
  part_.written.add(offset, offset + data.size());
  part_.size = std::max<std::uint64_t>(part_.size, offset + data.size());
  return {};
}

Result<void> StagedFile::truncate(std::uint64_t size) {
  if (native_) return native_->truncate(size);
  if (size < part_.size) {
    // The bytes behind the new end stay where they are until publish, and must not come back.
    part_.stale_bytes = std::max(part_.stale_bytes, part_.size);
    part_.written.cut(size);
  }
  part_.size = size;
  return {};
}

Result<void> StagedFile::flush() {
  if (native_) return take_path();
  if (!wrote_ || is_inherited_from_living()) return {};
  if (publish_provisionally(part_)) return {};
  MCR_TRY(spill("it cannot be published there"));
  return take_path();
}

Result<void> StagedFile::finish() {
  if (is_inherited_from_living()) {
    leave_table();
    return {};
  }
  if (!native_ && !wrote_) {
    // Created and closed without a byte (HDF5 could not lock it): an empty file, as native leaves
    // it.
    (void)part_.stage->directory.drop(part_.begin.part).has_value();
    leave_table();
    return part_.begin.replaced == restart::Replaced::nothing ? part_.at_path.truncate(0)
                                                              : Result<void>();
  }
  if (!native_) {
    const auto done = publish(part_);
    if (done) {
      leave_table();
      if (!part_.durable) return {};
      restart::unlock(part_.bytes);  // or the leader could not read them
      if (!wait_until_durable(*part_.stage, part_.begin.part)) {
        restart::log_warning_once("durable",
                                  part_.begin.path +
                                      " is safe against the death of any process, but not "
                                      "yet in storage");
      }
      return {};
    }
    MCR_TRY(spill(done.error().message.c_str()));
  }
  return finish_native();
}

// --- native from now on
// -------------------------------------------------------------------------------------

Result<void> StagedFile::copy_to(const restart::File& target) {
  for (const auto& range : part_.written.ranges()) {
    const std::uint64_t end = std::min(range.end, part_.size);
    if (range.begin < end) MCR_TRY(copy_bytes(part_.bytes, target, range.begin, end));
  }
  return target.truncate(part_.size);
}

Result<void> StagedFile::spill(const char* why) {
  if (native_) return {};
  if (why != nullptr) {
    restart::log_warning_once("spill", part_.begin.path + " is written natively: " + why);
  }
  restart::File target;
  FileIdentity identity = part_.identity;
  if (part_.begin.replaced == restart::Replaced::nothing) {
    // In place of the stub, whose descriptors stay good.
    MCR_TRY(part_.at_path.truncate(0));
    if (auto copied = copy_to(part_.at_path); !copied) {
      // Storage refuses what native HDF5 would have written too. The stub comes back, for what is
      // staged.
      const Bytes stub = restart::write_stub(stub_of(part_));
      if (part_.at_path.truncate(0) && part_.at_path.write_at(0, stub))
        (void)part_.at_path.truncate(stub.size()).has_value();
      return copied;
    }
    target = std::move(part_.at_path);
  } else {
    auto [file, name] = MCR_TRY(temporary_beside(part_.begin.path, part_.begin.part.text()));
    if (auto copied = copy_to(file); !copied) {
      restart::system_calls().unlinkat(AT_FDCWD, name.c_str(), 0);
      return copied;
    }
    native_temporary_ = std::move(name);
    target = std::move(file);
    identity = MCR_TRY(identity_of(target));
  }
  // The journal says so before the bytes go: a dead writer's part would be looked for there.
  restart::PartPublish record;
  record.size = part_.size;
  record.publish_ns = realtime_ns();
  record.provisional = true;
  record.native = restart::PartPublish::NativeFile{identity.device, identity.inode};
  (void)part_.stage->directory.publish(part_.begin.part, part_.journal, record).has_value();
  (void)part_.bytes.truncate(0).has_value();
  native_.emplace(std::move(target), part_.identity, part_.size, true);
  return {};
}

Result<void> StagedFile::take_path() {
  if (native_temporary_.empty()) return {};
  restart::system_calls().fchown(native_->descriptor(), static_cast<uid_t>(-1), part_.group);
  restart::system_calls().fchmod(native_->descriptor(), part_.begin.mode);
  if (restart::system_calls().renameat(AT_FDCWD, native_temporary_.c_str(), AT_FDCWD,
                                       part_.begin.path.c_str()) != 0) {
    return restart::system_error("cannot rename", native_temporary_);
  }
  native_temporary_.clear();
  // Who opens the path from now on finds the new file there.
  const FileIdentity identity = MCR_TRY(identity_of(native_->descriptor(), part_.begin.path));
  const std::lock_guard lock(table().mutex);
  table().files.erase(part_.identity);
  part_.identity = identity;
  table().files[identity] = shared_from_this();
  return {};
}

Result<void> StagedFile::finish_native() {
  MCR_TRY(take_path());
  // It still counts as a part of its set.
  restart::PartPublish record;
  record.size = native_->size();
  record.publish_ns = realtime_ns();
  if (const auto identity = identity_of(native_->descriptor(), part_.begin.path)) {
    record.native = restart::PartPublish::NativeFile{identity->device, identity->inode};
  }
  (void)part_.stage->directory.publish(part_.begin.part, part_.journal, record).has_value();
  restart::unlock(part_.bytes);
  leave_table();
  return native_->close();
}

// True in a fork's child whose parent, who began the part, lives: the part is the parent's to
// publish.
bool StagedFile::is_inherited_from_living() const {
  if (Process::get().is_owner()) return false;
  const auto presence = restart::File::open(part_.stage->directory.descriptor(),
                                            "ranks/" + part_.begin.presence, O_RDONLY);
  return presence && !restart::try_lock(*presence, restart::LockKind::shared).value_or(true);
}

}  // namespace mcr::vol
