// SPDX-License-Identifier: BSD-3-Clause
#include "vol/driver/container_backend.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "restart/base/access_list.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/log.hpp"
#include "restart/base/mapped_ids.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/put_back_mark.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/native_backend.hpp"
#include "vol/capture/spill.hpp"
#include "vol/capture/stub_source.hpp"
#include "vol/capture/written_in_turns.hpp"
#include "vol/driver/stage_backend.hpp"

namespace mcr::vol {

namespace {

/// The largest write that is held back. A superblock has at most 96 bytes, and the message of its
/// extension is only a little longer.
constexpr std::size_t max_pending_bytes = 512;

// What is done with the new file, whose status this is, before it gets the path in the open directory.
using BeforePlacing =
    std::function<Result<void>(const restart::File& home, const struct stat& made)>;

// Writes the part's bytes into a native file, which takes the place of the file at the path. Users who
// cannot read the part get no access to it: another user may have written into the stub whose part it names.
Result<std::unique_ptr<NativeBackend>> native_copy(restart::PartSource& source,
                                                   const restart::PartOrigin& origin,
                                                   const std::string& path,
                                                   const restart::File& at_path,
                                                   bool ignore_disabled_locks,
                                                   const BeforePlacing& before_placing = {}) {
  const struct stat status = MCR_TRY(at_path.status());
  const restart::File home =
      MCR_TRY(restart::File::open(AT_FDCWD, restart::parent_of(path), O_PATH | O_DIRECTORY));
  const std::string last = restart::name_of(path);
  if (!restart::is_still_named(at_path, home.descriptor(), last)) {
    errno = ESTALE;
    return restart::system_error("another process replaced the file", path);
  }
  const restart::Access access = MCR_TRY(restart::access_of_copy(origin, at_path, path, home));
  auto [file, name] =
      MCR_TRY(temporary_in(home, std::to_string(status.st_ino) + "." + std::to_string(getpid())));
  const struct stat made = MCR_TRY(file.status());
  auto copied = copy_source(source, file);
  if (copied) keep_attributes(at_path, file, access);
  if (copied && before_placing) copied = before_placing(home, made);
  if (copied) copied = restart::put_in_place(home.descriptor(), name, home.descriptor(), last);
  if (!copied) {
    restart::system_calls().unlinkat(home.descriptor(), name.c_str(), 0);
    return copied.error();
  }
  return std::make_unique<NativeBackend>(std::move(file), FileIdentity(made), source.size(),
                                         ignore_disabled_locks);
}

}  // namespace

std::uint64_t ContainerBackend::size() const { return written_ ? written_->size() : size_; }

Result<void> ContainerBackend::read(std::uint64_t offset, MutableByteSpan out) {
  if (swmr_ == SwmrRole::reader && !written_) follow_swmr_writer();
  if (written_) return written_->read(offset, out);
  const std::uint64_t end = std::min<std::uint64_t>(size_, offset + out.size());
  const auto there = static_cast<std::size_t>(end > offset ? end - offset : 0);
  if (source_ == nullptr) return Error{Cause::system, path_ + " could not be opened again", EIO};
  if (there > 0) MCR_TRY(source_->read_at(offset, out.first(there)));
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(there), out.end(), std::byte{0});
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const std::uint64_t at = pending_offset_ + i;
    if (at >= offset && at - offset < out.size())
      out[static_cast<std::size_t>(at - offset)] = pending_[i];
  }
  return {};
}

Result<void> ContainerBackend::write(std::uint64_t offset, ByteSpan data) {
  if (!written_ && swmr_ == SwmrRole::writer) MCR_TRY(make_native());
  if (!written_) {
    const bool small = data.size() <= max_pending_bytes && offset + data.size() <= size_;
    const bool same_place =
        pending_.empty() || (pending_offset_ == offset && pending_.size() == data.size());
    if (small && same_place) {
      pending_offset_ = offset;
      pending_.assign(data.begin(), data.end());
      return {};
    }
    if (small) {
      Bytes present(data.size());
      MCR_TRY(read(offset, present));
      if (std::equal(present.begin(), present.end(), data.begin())) return {};
    }
    MCR_TRY(begin_writing());
  }
  return written_->write(offset, data);
}

Result<void> ContainerBackend::truncate(std::uint64_t size) {
  if (!written_) {
    if (size == size_) return {};
    MCR_TRY(begin_writing());
  }
  return written_->truncate(size);
}

Result<void> ContainerBackend::flush() { return written_ ? written_->flush() : Result<void>(); }

Result<void> ContainerBackend::lock(bool exclusive) {
  return lock_descriptor(descriptor(), exclusive ? LOCK_EX : LOCK_SH, ignore_disabled_locks_);
}

Result<void> ContainerBackend::unlock() {
  return lock_descriptor(descriptor(), LOCK_UN, ignore_disabled_locks_);
}

Result<bool> ContainerBackend::pending_differs() {
  if (pending_.empty()) return false;
  if (source_ == nullptr) return false;
  Bytes present(pending_.size());
  MCR_TRY(source_->read_at(pending_offset_, present));
  return present != pending_;
}

Result<void> ContainerBackend::close() {
  if (!written_) {
    if (!MCR_TRY(pending_differs())) return {};
    MCR_TRY(begin_writing());
  }
  return written_->close();
}

int ContainerBackend::descriptor() const {
  return written_ ? written_->descriptor() : at_path_.descriptor();
}

Result<void> ContainerBackend::make_native() {
  if (!written_) MCR_TRY(begin_writing());
  return written_->make_native();
}

// Finds out whether the SWMR writer has made the file native. Either another file lies at the path
// now, or the writer has replaced the stub's content in place (only a writer of the same launch
// does so).
void ContainerBackend::follow_swmr_writer() {
  struct stat now {};
  if (restart::system_calls().fstatat(AT_FDCWD, path_.c_str(), &now, 0) != 0) return;
  const bool is_replaced = FileIdentity(now) != identity_;
  if (!is_replaced && restart::is_stub_file(at_path_)) return;
  auto file = restart::File::open(AT_FDCWD, path_, O_RDONLY | O_NONBLOCK);
  if (!file || restart::is_stub_file(*file)) return;
  const auto status = file->status();
  if (!status || !S_ISREG(status->st_mode)) return;
  written_ = std::make_unique<NativeBackend>(std::move(*file), identity_,
                                             static_cast<std::uint64_t>(status->st_size),
                                             ignore_disabled_locks_);
}

// Follows renames of the file or its directory, because a program writes into the file that it
// opened, as natively. False if the program has removed the file.
bool ContainerBackend::follow_renames() {
  const restart::PresentName now = restart::present_name(at_path_);
  if (!now.path.empty()) path_ = now.path;
  return !now.is_removed;
}

// True if the file has a name that is not the one by which it was opened. Natively, the other name shows what is written.
bool ContainerBackend::has_other_name() const {
  const auto status = at_path_.status();
  return status && restart::names_of_program(stub_, path_, *status) > 0;
}

// Continues in a file without a name, because the program has removed the file. As natively, only
// this program sees what it writes.
Result<void> ContainerBackend::write_without_name() {
  auto file = MCR_TRY(restart::File::without_name(path_));
  if (source_ == nullptr)
    source_ = MCR_TRY(open_source(stub_, path_));  // an earlier write has failed
  MCR_TRY(copy_source(*source_, file));
  written_ = std::make_unique<NativeBackend>(std::move(file), identity_, source_->size(),
                                             ignore_disabled_locks_);
  return write_pending();
}

Result<void> ContainerBackend::write_copy_of_native() {
  restart::PartOrigin origin;
  origin.owner = native_->owner;
  origin.access = MCR_TRY(restart::access_of(native_->file));
  origin.directory =
      MCR_TRY(restart::File::open(native_->directory.descriptor(), ".", O_PATH | O_DIRECTORY));
  std::string containers;
  const auto note = [&](const restart::File& home, const struct stat& made) -> Result<void> {
    containers = MCR_TRY(restart::note_native(home, stub_, made.st_ino));
    return {};
  };
  auto copy = MCR_TRY(native_copy(*source_, origin, path_, at_path_, ignore_disabled_locks_, note));
  copy->note_in(std::move(containers), stub_.part, NativeBackend::Note::unfinished);
  written_ = std::move(copy);
  return write_pending();
}

Result<void> ContainerBackend::write_pending() {
  if (pending_.empty()) return {};
  const Bytes pending = std::move(pending_);
  pending_.clear();
  return written_->write(pending_offset_, pending);
}

std::optional<restart::File> ContainerBackend::find_put_back() const {
  return believes_marks_ ? restart::find_put_back(at_path_) : std::nullopt;
}

Result<void> ContainerBackend::begin_writing() {
  const Waiting waiting;
  auto native = find_put_back();
  const bool is_there = native || follow_renames();
  // The leader makes its mark before it changes the names. So if the stub has lost its name, a
  // second look finds the mark.
  if (!is_there) native = find_put_back();
  if (native) {
    const std::uint64_t size = MCR_TRY(native->size());
    written_ = std::make_unique<NativeBackend>(*std::move(native), identity_, size,
                                               ignore_disabled_locks_);
    return write_pending();
  }
  // A list may name users and groups that this user namespace does not map. A new file could not get it, and a later chmod
  // would let in whom it keeps out.
  if (!restart::are_all_ids_mapped() && restart::has_access_list(at_path_))
    return Error{Cause::system,
                 path_ +
                     " cannot be written: it has an access list that a new file cannot get, "
                     "because this user namespace does not map all users and groups. Write to "
                     "it outside of the namespace, or make it anew",
                 EPERM};
  if (!is_there && !has_other_name()) return write_without_name();
  if (native_) return write_copy_of_native();
  // Duplicate the descriptor, because HDF5's lock and the program's handle use ours, which stays
  // open.
  const int second = fcntl(at_path_.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (second < 0) return restart::system_error("cannot duplicate the descriptor of", path_);
  // Close our source first: its lock on the part would prevent taking the part back.
  source_.reset();
  restart::File stub_file(second, path_);
  const bool natively = goes_on_natively(stub_, path_);
  auto file = natively ? Result<std::shared_ptr<StagedFile>>(nullptr)
                       : StagedFile::reopen(stub_, path_, std::move(stub_file));
  if (file && *file != nullptr) {
    written_ = std::make_unique<StageBackend>(std::move(*file), true, ignore_disabled_locks_);
  } else {
    if (natively) {
      tell_how_to_capture(stub_, path_);
    } else {
      restart::log_warning_once("amend", path_ + " is written natively: " + file.error().message);
    }
    std::optional<restart::PartOrigin> origin;
    source_ = MCR_TRY(open_source(stub_, path_, &origin));
    written_ = MCR_TRY(native_copy(*source_, *origin, path_, at_path_, ignore_disabled_locks_));
  }
  return write_pending();
}

}  // namespace mcr::vol
