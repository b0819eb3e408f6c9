// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/staged_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>

#include "restart/base/lock.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/spare_numbers.hpp"
#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/settings/choices.hpp"
#include "restart/stage/put_back_mark.hpp"
#include "restart/stage/rewrite_mark.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/part_begin.hpp"
#include "vol/capture/publish.hpp"
#include "vol/capture/unfinished_part.hpp"
#include "vol/process/job_end.hpp"
#include "vol/process/job_warnings.hpp"

namespace mcr::vol {

namespace {

constinit thread_local int creates = 0;

struct Table {
  std::mutex mutex;
  std::map<FileIdentity, std::weak_ptr<StagedFile>> files;
};
Table& table() {
  // Never destroyed: HDF5 closes files after static destructors have run.
  static Table& table = *new Table;
  return table;
}

// Returns the stub in the file that the part will replace; nothing if the file is no stub.
std::optional<restart::Stub> stub_in(const restart::File& file) {
  if (!restart::is_stub_file(file)) return std::nullopt;
  auto stub = restart::read_stub_file(file);
  return stub ? std::optional(std::move(*stub)) : std::nullopt;
}

// Returns the stub of an earlier writing of the same path, if the leader has put it in place of the
// file that the part is to replace: storage had refused the stub when that writing was closed.
std::optional<restart::File> late_stub(const StagedPart& part, const restart::File& home,
                                       const std::string& name) {
  const auto old_status = part.at_path.status();
  if (!old_status || old_status->st_nlink != 0) return std::nullopt;
  auto file = restart::File::open(home.descriptor(), name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  if (!status || status->st_uid != ::geteuid()) return std::nullopt;
  const auto stub = stub_in(*file);
  if (!stub || !restart::is_of_same_path(*stub, part.begin) ||
      stub->sequence >= part.begin.sequence)
    return std::nullopt;
  // A copy of an older version, which the program has put there, does not count.
  const auto old = stub_in(part.at_path);
  if (old && restart::is_of_same_path(*old, part.begin) && old->sequence >= stub->sequence)
    return std::nullopt;
  return *std::move(file);
}

// Makes the empty file at the path. Storage may be full of what the leader is about to give back: stubs
// that the program has removed, and superseded sets. So a process that has captured files waits up to a
// second for room, but not again after it has waited in vain.
Result<restart::File> make_file(const ResolvedPath& place, const JobStage& stage) {
  static constinit std::atomic<bool> waits{true};
  constexpr int tries = 20;
  for (int number = 1;; ++number) {
    auto made = place.open(O_RDWR | O_CREAT | O_EXCL, 0666);
    const int problem = made ? 0 : made.error().system_error;
    const bool is_full = problem == ENOSPC || problem == EDQUOT;
    if (is_full && waits && number < tries && !stage.published.empty()) {
      const timespec pause{0, 50'000'000};
      ::nanosleep(&pause, nullptr);
      continue;
    }
    if (made || is_full) waits = made.has_value();
    return made;
  }
}

}  // namespace

Result<FileIdentity> identity_of(int descriptor, const std::string& name) {
  struct stat status {};
  if (restart::system_calls().fstat(descriptor, &status) != 0)
    return restart::system_error("cannot look at", name);
  return FileIdentity(status);
}

std::optional<restart::File> home_of(StagedPart& part) {
  auto home = restart::open_begun_in(part.begin, O_PATH);
  if (!home) return std::nullopt;
  const std::string name = restart::name_of(part.begin.path);
  if (restart::is_still_named(part.at_path, home->descriptor(), name)) return *std::move(home);
  auto there = restart::find_put_back(part.at_path);
  if (!there) there = late_stub(part, *home, name);
  if (!there || !restart::is_still_named(*there, home->descriptor(), name)) return std::nullopt;
  part.at_path = *std::move(there);
  return *std::move(home);
}

void follow_put_back(StagedPart& part) {
  if (auto native = restart::find_put_back(part.at_path)) part.at_path = *std::move(native);
}

CreateScope::CreateScope() { ++creates; }
CreateScope::~CreateScope() { --creates; }
bool CreateScope::is_open() { return creates > 0; }

Result<std::shared_ptr<StagedFile>> StagedFile::create(const CapturePlan& plan) {
  StagedPart part;
  part.stage = plan.stage;
  part.settings = plan.settings;
  part.at_path = MCR_TRY(plan.place.status ? plan.place.open(O_RDWR | O_NOFOLLOW)
                                           : make_file(plan.place, *plan.stage));
  const struct stat status = MCR_TRY(part.at_path.status());
  part.identity = FileIdentity(status);
  const auto old = plan.place.status ? stub_in(part.at_path) : std::optional<restart::Stub>();
  part.begin = begin_part(plan, status, old);
  if (old) restart::mark_rewritten(plan.stage->directory, part.at_path, *old);
  part.close = restart::close_of(*plan.settings);
  if (Process::get().is_durable_turn(restart::pattern_of(plan.masked_names.front()),
                                     *plan.settings))
    part.close = restart::Close::durable;
  // A lack of memory must fail the create, not a later write.
  part.image.reserve(restart::max_content_bytes);
  plan.stage->has_created = true;
  auto file = in_table(std::move(part));
  file->free_bytes_ = plan.free_bytes;
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
  const auto found = table().files.find(part_.identity);
  if (found == table().files.end()) return;
  const auto file = found->second.lock();  // null if this object is being destroyed
  if (file == nullptr || file.get() == this) table().files.erase(found);
}

void StagedFile::move_in_table(FileIdentity identity) {
  const std::lock_guard lock(table().mutex);
  table().files.erase(part_.identity);
  part_.identity = identity;
  table().files[identity] = shared_from_this();
}

StagedFile::~StagedFile() { leave_table(); }

// Moves the bytes into the stage, with a journal that says to which file they belong.
Result<void> StagedFile::begin_in_stage() {
  if (part_.is_begun()) return {};
  const restart::LaunchDirectory& directory = part_.stage->directory;
  auto made = MCR_TRY(directory.create_part(part_.stage->launcher.rank));
  UnfinishedPart unfinished(directory, made.part);
  // A staged file takes two more descriptors than a native one. If half of the process's
  // descriptors are in use, files go native, so that the program can still open as many files as
  // without mcr.
  if (restart::are_numbers_few(made.bytes.descriptor())) {
    return Error{Cause::system,
                 "half of this process's file descriptors are in use, and mcr leaves the other "
                 "half to the program; raise `ulimit -n`",
                 EMFILE};
  }
  part_.begin.part = made.part;
  MCR_TRY(made.bytes.write_at(0, part_.image));
  WrittenRanges written;
  written.add(0, part_.image.size());
  restart::File journal = MCR_TRY(directory.begin(part_.begin));
  // From here on nothing can fail, not even for lack of memory: the part is either in memory or in
  // the stage.
  part_.journal = std::move(journal);
  part_.bytes = std::move(made.bytes);
  part_.stale_bytes = made.reused_bytes;
  part_.written = std::move(written);
  part_.image = Bytes();
  unfinished.keep();
  return {};
}

Result<void> StagedFile::read(std::uint64_t offset, MutableByteSpan out) {
  if (native_) return native_->read(offset, out);
  const std::uint64_t end = std::min<std::uint64_t>(part_.size, offset + out.size());
  const auto there = static_cast<std::size_t>(end > offset ? end - offset : 0);
  if (!part_.is_begun()) {
    const auto from = ByteSpan(part_.image).subspan(there == 0 ? 0 : offset, there);
    std::copy(from.begin(), from.end(), out.begin());
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(there), out.end(), std::byte{0});
    return {};
  }
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

namespace {

restart::NativeReason why_refused(const Error& error) {
  if (error.system_error == EMFILE) return restart::NativeReason::few_descriptors;
  return error.cause == Cause::full ? restart::NativeReason::stage_full
                                    : restart::NativeReason::no_stage;
}

}  // namespace

Result<void> StagedFile::write(std::uint64_t offset, ByteSpan data) {
  wrote_ = true;
  const bool failed_before = std::exchange(failed_, true);  // set even if the write throws
  MCR_TRY(write_somewhere(offset, data));
  failed_ = failed_before;
  return {};
}

Result<void> StagedFile::write_somewhere(std::uint64_t offset, ByteSpan data) {
  const std::uint64_t end = offset + data.size();
  if (!native_ && !part_.is_begun() && end <= restart::max_content_bytes) {
    if (part_.image.size() < end) part_.image.resize(static_cast<std::size_t>(end));
    std::copy(data.begin(), data.end(), part_.image.begin() + static_cast<std::ptrdiff_t>(offset));
    part_.size = part_.image.size();
    return {};
  }
  if (is_appended()) MCR_TRY(go_on_as_appended());
  if (!native_ && end > free_bytes_)
    MCR_TRY(spill(restart::NativeReason::stage_full, "the stage is full"));
  if (!native_) {
    if (const auto begun = begin_in_stage(); !begun)
      MCR_TRY(spill(why_refused(begun.error()), begun.error().message.c_str()));
  }
  if (native_) return native_->write(offset, data);
  const auto written = part_.bytes.write_at(offset, data);
  if (!written) {
    MCR_TRY(spill(why_refused(written.error()), written.error().message.c_str()));
    return native_->write(offset, data);
  }
  part_.written.add(offset, end);
  part_.size = std::max<std::uint64_t>(part_.size, end);
  return {};
}

Result<void> StagedFile::truncate(std::uint64_t size) {
  if (!native_ && !part_.is_begun() && size <= restart::max_content_bytes) {
    part_.image.resize(static_cast<std::size_t>(size));
    part_.size = size;
    return {};
  }
  if (!native_) {
    if (const auto begun = begin_in_stage(); !begun)
      MCR_TRY(spill(why_refused(begun.error()), begun.error().message.c_str()));
  }
  if (native_) return native_->truncate(size);
  if (size < part_.size) {
    // Bytes beyond the new end stay in the stage file until publish, and must not become visible
    // again.
    part_.stale_bytes = std::max(part_.stale_bytes, part_.size);
    part_.written.cut(size);
  }
  part_.size = size;
  return {};
}

Result<void> StagedFile::flush() {
  if (native_) return take_path();
  if (!wrote_ || is_inherited_from_living()) return {};
  if (is_appended()) return go_on_as_appended();
  if (begin_in_stage() && publish_provisionally(part_)) {
    note_flush();
    return {};
  }
  MCR_TRY(spill(restart::NativeReason::no_stage, "it could not be published in the stage"));
  return take_path();
}

// Ends a failed create: the file that the part would have replaced stays, and nothing is published.
Result<void> StagedFile::discard() {
  leave_table();
  if (!native_temporary_.empty()) drop_temporary();
  if (part_.is_begun() || part_.journal_rests)
    (void)part_.stage->directory.drop(part_.begin.part).has_value();
  return {};
}

Result<void> StagedFile::finish() {
  if (is_inherited_from_living()) {
    leave_table();
    return {};
  }
  if (CreateScope::is_open()) return discard();
  if (!native_ && failed_ && part_.begin.replaced != restart::Replaced::nothing) {
    MCR_TRY(discard());
    return Error{Cause::system,
                 part_.begin.path + " could not be written; the older file stays at this path",
                 ENOMEM};
  }
  if (!native_ && !wrote_) {
    // The file was created and closed without any write (HDF5 could not lock it). An empty file
    // stays, as with native HDF5.
    leave_table();
    return {};
  }
  if (!native_) {
    const auto done = publish(part_);
    if (done) {
      leave_table();
      if (part_.close == restart::Close::staged) return {};
      unlock_published(part_);  // so that the leader can read the part
      wait_as_asked();
      return {};
    }
    MCR_TRY(spill(why_refused(done.error()), done.error().message.c_str()));
  }
  return finish_native();
}

void StagedFile::wait_as_asked() {
  if (wait_for_close(*part_.stage, part_.begin.part, part_.close)) return;
  const char* const goal =
      part_.close == restart::Close::durable ? "storage" : "another node or storage";
  warn_once_in_job(part_.stage->launcher, "not in storage within exit_wait=",
                   part_.begin.path + " did not reach " + goal +
                       " within exit_wait=. The data is safe "
                       "if processes die, but not if the node dies, and the "
                       "leader goes on writing it");
}

// True in a fork's child whose parent began the part and still lives: the parent publishes it.
bool StagedFile::is_inherited_from_living() const {
  if (Process::get().is_owner()) return false;
  const auto presence = part_.stage->directory.open_presence(part_.begin.presence);
  return presence && !restart::try_lock(*presence, restart::LockKind::shared).value_or(true);
}

}  // namespace mcr::vol
