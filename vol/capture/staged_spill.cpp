// SPDX-License-Identifier: BSD-3-Clause
// Spilling: a part leaves the stage while it is written, and its file is native from then on.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "restart/base/closed_directories.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/native_patterns.hpp"
#include "vol/capture/publish.hpp"
#include "vol/capture/replaced_member.hpp"
#include "vol/capture/spill.hpp"
#include "vol/capture/staged_file.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/native_files.hpp"

namespace mcr::vol {

Result<void> StagedFile::copy_to(const restart::File& target) {
  if (!part_.is_begun()) {
    MCR_TRY(target.write_at(0, part_.image));
    return target.truncate(part_.size);
  }
  for (const auto& range : part_.written.ranges()) {
    const std::uint64_t end = std::min(range.end, part_.size);
    if (range.begin < end) MCR_TRY(copy_bytes(part_.bytes, target, range.begin, end));
  }
  return target.truncate(part_.size);
}

// Writes into the stub's own file, whose open descriptors stay valid, or into the file to be
// replaced, wherever the program has moved it. Our links to stubs are removed first, because they
// would keep a file of the program alive.
Result<restart::File> StagedFile::spill_in_place() {
  follow_put_back(part_);
  if (const auto status = part_.at_path.status()) {
    if (part_.has_stub) unlink_stub(part_, part_.begin.part, *status);
    if (part_.begin.replaced_part) unlink_stub(part_, *part_.begin.replaced_part, *status);
  }
  MCR_TRY(part_.at_path.truncate(0));
  if (auto copied = copy_to(part_.at_path); !copied) {
    // Storage refuses the bytes, as with native HDF5. The part stays in the stage: restore its
    // stub.
    const Bytes stub = restart::write_stub(stub_of(part_));
    if (part_.at_path.truncate(0) && part_.has_stub && part_.at_path.write_at(0, stub))
      (void)part_.at_path.truncate(stub.size()).has_value();
    return copied.error();
  }
  is_noted_ = note_native(part_, part_.identity.inode);
  return std::move(part_.at_path);
}

// Copies into a temporary file. The file at the path stays until take_path().
Result<restart::File> StagedFile::spill_beside(const restart::File& home) {
  auto [file, name] = MCR_TRY(temporary_in(home, part_.begin.part.text()));
  if (auto copied = copy_to(file); !copied) {
    restart::system_calls().unlinkat(home.descriptor(), name.c_str(), 0);
    return copied.error();
  }
  keep_attributes(part_.at_path, file);
  native_temporary_ = std::move(name);
  return std::move(file);
}

// Records the native file in the journal before the bytes are removed from the stage. If the writer
// dies, the leader then finds the part's file.
void StagedFile::leave_stage(FileIdentity native) {
  if (!part_.is_begun()) {
    if (auto journal = part_.stage->directory.begin(part_.begin)) {
      part_.journal = std::move(*journal);
    } else {
      tell_of_native(*part_.stage, part_.begin.masked_names);
    }
    part_.image = Bytes();
  }
  restart::PartPublish record;
  record.size = part_.size;
  record.publish_ns = realtime_ns();
  record.provisional = true;
  record.native = restart::PartPublish::NativeFile{native.device, native.inode};
  tell_stage(record);
  if (part_.bytes.is_open()) (void)part_.bytes.truncate(0).has_value();
  // From now on the file has one descriptor, as with native HDF5. The presence still shows that
  // this process lives.
  part_.journal_rests = part_.is_begun();
  part_.bytes = restart::File();
  part_.journal = restart::File();
}

Result<void> StagedFile::spill(restart::NativeReason reason, const char* why) {
  if (native_) return {};
  if (why != nullptr) {
    restart::log_debug(part_.begin.path, " leaves the stage: ", why);
    warn_once_in_job(part_.stage->launcher, "files are written natively",
                     part_.begin.path + " is written natively: " + why);
  }
  // A part that was never in the stage needs an id too: for unique temporary names, and because the
  // part still counts for its set.
  if (!part_.is_begun()) part_.begin.part = MCR_TRY(restart::PartId::random());
  const auto home =
      part_.begin.replaced == restart::Replaced::nothing ? std::nullopt : home_of(part_);
  restart::File target = MCR_TRY(home ? spill_beside(*home) : spill_in_place());
  const FileIdentity identity = MCR_TRY(identity_of(target.descriptor(), part_.begin.path));
  native_.emplace(std::move(target), part_.identity, part_.size, true);
  leave_stage(identity);
  count_native_file(reason);
  note_native_file(identity);
  return {};
}

// Replaces the old file, wherever the program has moved that file or its directory meanwhile.
Result<void> StagedFile::take_path() {
  if (native_temporary_.empty()) return {};
  const FileIdentity identity = MCR_TRY(identity_of(native_->descriptor(), part_.begin.path));
  // The leader may have put back the part that this file replaces, or may be doing so. home_of()
  // finds its mark, which it makes before it changes names.
  (void)home_of(part_);
  restart::PresentName now = restart::present_name(part_.at_path);
  if (now.is_removed) {
    if (!home_of(part_)) follow_put_back(part_);
    now = restart::present_name(part_.at_path);
  }
  const FileIdentity old(MCR_TRY(part_.at_path.status()));
  const auto beside = directory_of_temporary(identity);
  // The program removed the old file during writing, perhaps with its directory. Natively the new
  // data would be gone too.
  if (now.is_removed) {
    drop_temporary();
    return {};
  }
  if (!beside) return beside.error();
  const std::string path = now.path.empty() ? part_.begin.path : now.path;
  const int from = beside->descriptor();
  const restart::File home = MCR_TRY(restart::open_directory_of(path, old));
  if (path == part_.begin.path) {
    // Before the rename, make the note about the new file, and keep the old file aside. A crash
    // here leaves a note without a file, or the old file with a second name.
    is_noted_ = note_native(part_, identity.inode);
    keep_replaced_member(home, path, part_.settings->text("container_dir"));
  }
  MCR_TRY(
      restart::put_in_place(from, native_temporary_, home.descriptor(), restart::name_of(path)));
  native_temporary_.clear();
  // Processes that open the path from now on find the new file there.
  move_in_table(identity);
  return {};
}

// Removes the temporary file. It may be gone already, with its directory.
void StagedFile::drop_temporary() {
  const auto identity = identity_of(native_->descriptor(), part_.begin.path);
  const auto beside = identity ? directory_of_temporary(*identity) : Result<restart::File>(Error{});
  if (beside) restart::system_calls().unlinkat(beside->descriptor(), native_temporary_.c_str(), 0);
  native_temporary_.clear();
}

// Opens the directory of the temporary file, which has that identity.
Result<restart::File> StagedFile::directory_of_temporary(FileIdentity identity) const {
  auto home = restart::open_begun_in(part_.begin, O_PATH);
  if (home && restart::leads_to(home->descriptor(), native_temporary_, identity)) return home;
  return restart::open_directory_of(restart::present_path(native_->file()), identity);
}

Result<void> StagedFile::make_native() {
  MCR_TRY(spill(restart::NativeReason::swmr));
  return take_path();
}

Result<void> StagedFile::finish_native() {
  MCR_TRY(take_path());
  // The native file still counts as a part of its set.
  restart::PartPublish record;
  record.size = native_->size();
  record.publish_ns = realtime_ns();
  if (const auto identity = identity_of(native_->descriptor(), part_.begin.path)) {
    record.native = restart::PartPublish::NativeFile{identity->device, identity->inode};
  }
  struct stat status {};
  if (is_noted_ && restart::system_calls().fstat(native_->descriptor(), &status) == 0)
    restart::complete_note(containers_of(part_), part_.begin.part, status);
  leave_table();
  auto closed = native_->close();
  tell_stage(record);  // comes last: opening the journal may need the freed descriptor
  return closed;
}

void StagedFile::tell_stage(const restart::PartPublish& record) {
  if (part_.journal_rests) {
    if (auto journal = part_.stage->directory.open_journal(part_.begin.part))
      part_.journal = std::move(*journal);
  }
  if (!part_.is_begun()) return;
  (void)part_.stage->directory.publish(part_.begin.part, part_.journal, record).has_value();
}

}  // namespace mcr::vol
