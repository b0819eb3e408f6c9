// SPDX-License-Identifier: BSD-3-Clause
// A part that this process is writing. There is one object per file, however many HDF5 handles and
// names lead to it. A table of the process finds the object by the identity of the file at the
// path: the stub, or the old file that the part will replace at publish.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "restart/format/journal.hpp"
#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"
#include "restart/settings/choices.hpp"
#include "vol/capture/backend.hpp"
#include "vol/capture/capture_plan.hpp"
#include "vol/capture/native_backend.hpp"
#include "vol/capture/written_ranges.hpp"

namespace mcr::vol {

/// All that publish and spill need to know about a part. A small part that the program has not
/// flushed lies only in `image`, not in the stage. If the process dies then, a file that does not
/// open is left, as natively.
struct StagedPart {
  JobStage* stage = nullptr;
  Process::SettingsPointer settings;
  restart::PartBegin begin;
  Bytes image;            ///< the whole file, until it is moved into the stage
  restart::File bytes;    ///< the file in the stage, once the part is begun there
  restart::File journal;  ///< open once the part is begun or published
  WrittenRanges written;
  std::uint64_t size = 0;  ///< end of file as HDF5 sees it
  /// Below this offset, bytes that were not written contain old data.
  std::uint64_t stale_bytes = 0;
  restart::File at_path;       ///< the file at the path: the stub, or the file to be replaced
  FileIdentity identity;       ///< of `at_path`
  bool has_stub = false;       ///< the part's own stub lies at the path
  bool published = false;      ///< by a final publish, not a provisional one
  bool journal_rests = false;  ///< the journal exists, but was closed when the part went native
  restart::Close close = restart::Close::staged;  ///< for what the close waits

  [[nodiscard]] bool is_begun() const { return journal.is_open(); }
};

/// Returns the directory in which the part was begun, if the file that the part replaces still lies
/// there. Nothing if the program has moved or removed that file, or its directory.
std::optional<restart::File> home_of(StagedPart& part);
/// If the leader has put back the part that `part` replaces, `part` will replace the plain file
/// instead: `at_path` is then that file. Unlike home_of(), this also works after the program has
/// renamed the file.
void follow_put_back(StagedPart& part);

/// While an object of this class lives, a file that is closed counts as never created. HDF5 opens
/// the driver's file within H5Fcreate, and closes it again if something fails.
class CreateScope {
 public:
  CreateScope();
  ~CreateScope();
  CreateScope(const CreateScope&) = delete;
  CreateScope& operator=(const CreateScope&) = delete;
  [[nodiscard]] static bool is_open();
};

class StagedFile : public std::enable_shared_from_this<StagedFile> {
 public:
  /// Makes a new part for a path with no file, or with a file that the part replaces at publish. A
  /// failure leaves an existing file unchanged; if there was no file, it leaves an empty one, as
  /// native HDF5 would.
  static Result<std::shared_ptr<StagedFile>> create(const CapturePlan& plan);
  /// Opens a published part for writing again. The part is copied into a new part of the same
  /// generation, which replaces the old one at publish. If several ranks or names share the file,
  /// the part itself is taken back from the leader instead. Fails if the stub is a copy of another
  /// stub: that file must be written natively. `at_path` is the open stub. The caller must hold no
  /// PartSource of the part, because the source's lock would prevent this.
  static Result<std::shared_ptr<StagedFile>> reopen(const restart::Stub& stub,
                                                    const std::string& path, restart::File at_path);
  /// Returns the part that this process is writing and whose file at the path has that identity;
  /// null if there is none.
  static std::shared_ptr<StagedFile> find(FileIdentity identity);

  ~StagedFile();

  [[nodiscard]] std::uint64_t size() const { return native_ ? native_->size() : part_.size; }
  Result<void> read(std::uint64_t offset, MutableByteSpan out);
  Result<void> write(std::uint64_t offset, ByteSpan data);
  Result<void> truncate(std::uint64_t size);
  /// Publishes provisionally.
  Result<void> flush();
  /// Publishes the part, or drops it if nothing was written. No other call may follow.
  Result<void> finish();
  /// Moves the part out of the stage: the file becomes a native one.
  Result<void> spill(restart::NativeReason reason, const char* why = nullptr);
  /// Moves the part out of the stage to its path at once, so that other processes can follow its
  /// writes.
  Result<void> make_native();

  [[nodiscard]] int descriptor() const {
    return native_ ? native_->descriptor() : part_.at_path.descriptor();
  }
  [[nodiscard]] FileIdentity identity() const { return part_.identity; }
  void require_durable() { part_.close = restart::Close::durable; }

 private:
  explicit StagedFile(StagedPart part) : part_(std::move(part)) {}
  // staged_reopen.cpp
  static Result<bool> withdraw(const restart::Stub& stub, const std::string& path,
                               const restart::File& at_path, StagedPart& part);
  static Result<void> amend(const restart::Stub& stub, const ResolvedPath& place,
                            const restart::File& at_path, StagedPart& part);
  // staged_append.cpp
  void note_flush();
  [[nodiscard]] bool is_appended() const;
  Result<void> go_on_as_appended();
  // staged_file.cpp
  static std::shared_ptr<StagedFile> in_table(StagedPart part);
  void leave_table();
  Result<void> discard();
  void move_in_table(FileIdentity identity);
  Result<void> begin_in_stage();
  Result<void> write_somewhere(std::uint64_t offset, ByteSpan data);
  void wait_as_asked();
  [[nodiscard]] bool is_inherited_from_living() const;
  // staged_spill.cpp
  Result<void> copy_to(const restart::File& target);
  Result<restart::File> spill_in_place();
  Result<restart::File> spill_beside(const restart::File& home);
  void leave_stage(FileIdentity native);
  [[nodiscard]] Result<restart::File> directory_of_temporary(FileIdentity identity) const;
  void drop_temporary();
  Result<void> take_path();
  Result<void> finish_native();
  void tell_stage(const restart::PartPublish& record);

  StagedPart part_;
  std::optional<NativeBackend> native_;  ///< after spill
  std::string native_temporary_;  ///< the native file's name until it replaces the file at the path
  std::uint64_t free_bytes_ = UINT64_MAX;  ///< a part that would grow beyond this size is spilled
  /// From this time on the file counts as appended to; 0: not yet flushed.
  std::uint64_t native_from_ns_ = 0;
  bool is_noted_ = false;  ///< a note says to which set the native file belongs
  bool wrote_ = false;
  bool failed_ = false;  ///< a write failed for lack of memory
};

/// Returns device and inode of an open file.
Result<FileIdentity> identity_of(int descriptor, const std::string& name);

}  // namespace mcr::vol
