// SPDX-License-Identifier: BSD-3-Clause
// A part that this process is writing. There is one per file, whatever number of HDF5's handles and
// names lead to it; a process-wide table finds it by what lies at the path (the stub, or the old
// file that the part will replace at publish).
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "restart/format/journal.hpp"
#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"
#include "vol/capture/backend.hpp"
#include "vol/capture/capture_plan.hpp"
#include "vol/capture/native_backend.hpp"
#include "vol/capture/written_ranges.hpp"

namespace mcr::vol {

/// Everything that publish and spill have to know of a part. While it is small and nobody has asked
/// for its safety it lies in `image` alone, and the stage knows nothing of it: a death leaves what
/// native HDF5 would have left, a file that does not open.
struct StagedPart {
  JobStage* stage = nullptr;
  Process::SettingsPointer settings;
  restart::PartBegin begin;
  Bytes image;            ///< the whole file, until it is begun in the stage
  restart::File bytes;    ///< once it is begun
  restart::File journal;  ///< once it is begun or published
  WrittenRanges written;
  std::uint64_t size = 0;         ///< end of file as HDF5 sees it
  std::uint64_t stale_bytes = 0;  ///< below this the file holds old bytes where nothing was written
  restart::File at_path;          ///< what lies at the path: the stub, or what will be replaced
  FileIdentity identity;          ///< of it
  bool has_stub = false;          ///< its own stub lies at the path
  bool published = false;         ///< finally
  bool journal_rests = false;     ///< begun, and native since: opened again when there is news
  bool durable = false;

  [[nodiscard]] bool is_begun() const { return journal.is_open(); }
};

/// The directory in which the part was begun, where what the part replaces lies there still. Nothing
/// where the program has moved or removed that, or its directory.
std::optional<restart::File> home_of(StagedPart& part);

/// While it lives, a file that ends was never created: HDF5 opens the driver's file within
/// H5Fcreate and closes it again where something fails.
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
  /// A new part for a path at which nothing lies, or something that it replaces at publish. Errors
  /// leave nothing behind at the path but, where nothing lay there, an empty file (as native HDF5
  /// would have made).
  static Result<std::shared_ptr<StagedFile>> create(const CapturePlan& plan);
  /// A published part that is written again: copied into a new part of the same generation that
  /// replaces it at publish, or, in a file that several ranks or names share, taken back from the
  /// leader. An error where the stub is a copy of another: that file is to be written natively.
  /// `at_path` leads to the stub. Who calls holds no PartSource of the part: its lock would stand
  /// in the way.
  static Result<std::shared_ptr<StagedFile>> reopen(const restart::Stub& stub,
                                                    const std::string& path, restart::File at_path);
  /// The part whose path leads to this file, null where this process writes none there.
  static std::shared_ptr<StagedFile> find(FileIdentity identity);

  ~StagedFile();

  [[nodiscard]] std::uint64_t size() const { return native_ ? native_->size() : part_.size; }
  Result<void> read(std::uint64_t offset, MutableByteSpan out);
  Result<void> write(std::uint64_t offset, ByteSpan data);
  Result<void> truncate(std::uint64_t size);
  /// Publishes provisionally.
  Result<void> flush();
  /// Publishes, or drops what was never written. The last that is called on it by its writer.
  Result<void> finish();
  /// Leaves the stage: the file becomes a native one.
  Result<void> spill(const char* why);
  /// Leaves the stage and lies at its path at once, where other processes follow what is written.
  Result<void> make_native();

  [[nodiscard]] int descriptor() const {
    return native_ ? native_->descriptor() : part_.at_path.descriptor();
  }
  [[nodiscard]] FileIdentity identity() const { return part_.identity; }
  void require_durable() { part_.durable = true; }

 private:
  explicit StagedFile(StagedPart part) : part_(std::move(part)) {}
  // staged_reopen.cpp
  static Result<bool> withdraw(const restart::Stub& stub, const std::string& path,
                               StagedPart& part);
  static Result<void> amend(const restart::Stub& stub, const ResolvedPath& place, StagedPart& part);
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
  std::string native_temporary_;         ///< its name in its home until it replaces what lies there
  std::uint64_t room_ = UINT64_MAX;      ///< a part that would grow beyond it is spilled
  std::uint64_t native_from_ns_ = 0;     ///< once it is flushed; 0: it stays
  bool is_noted_ = false;                ///< a note says whose native file it is
  bool wrote_ = false;
  bool failed_ = false;  ///< a write did not succeed, for want of memory
};

/// Device and inode of an open file.
Result<FileIdentity> identity_of(int descriptor, const std::string& name);

}  // namespace mcr::vol
