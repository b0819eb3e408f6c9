// SPDX-License-Identifier: BSD-3-Clause
// A finished part, read from the stage or from its container. After an open for writing the part
// stays unchanged until bytes really change, because HDF5 marks and unmarks the superblock at every
// such open. At the first change, the file continues as a part that is being written
// (StagedFile::reopen) or, if that is refused, as a native file.
#pragma once

#include <optional>
#include <string>

#include "restart/base/file.hpp"
#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"
#include "restart/open/open_generation.hpp"
#include "vol/capture/backend.hpp"
#include "vol/driver/swmr_role.hpp"

namespace mcr::vol {

class ContainerBackend : public Backend {
 public:
  ContainerBackend(std::unique_ptr<restart::PartSource> source, restart::Stub stub,
                   std::string path, restart::File at_path, FileIdentity identity,
                   restart::PartId part_at_path, bool ignore_disabled_locks)
      : source_(std::move(source)),
        stub_(std::move(stub)),
        path_(std::move(path)),
        at_path_(std::move(at_path)),
        identity_(identity),
        part_at_path_(part_at_path),
        size_(source_->size()),
        ignore_disabled_locks_(ignore_disabled_locks) {}

  [[nodiscard]] std::uint64_t size() const override;
  Result<void> read(std::uint64_t offset, MutableByteSpan out) override;
  Result<void> write(std::uint64_t offset, ByteSpan data) override;
  Result<void> truncate(std::uint64_t size) override;
  Result<void> flush() override;
  Result<void> lock(bool exclusive) override;
  Result<void> unlock() override;
  Result<void> close() override;
  [[nodiscard]] int descriptor() const override;
  [[nodiscard]] FileIdentity identity() const override {
    return written_ ? written_->identity() : identity_;
  }
  [[nodiscard]] Content content() const override {
    return written_ ? written_->content() : Content{Content::Kind::part, part_at_path_};
  }
  /// SWMR: the writer makes the file native at its first write, and readers then switch to the
  /// native file. So writer and readers use the same file.
  void set_swmr_role(SwmrRole role) { swmr_ = role; }
  /// The part is a native file at another place. A write makes a copy of it at the path, which takes
  /// its place in the set.
  void set_native(std::optional<restart::NativePlace> native) { native_ = std::move(native); }
  /// The stub had a put-back mark when it was opened: it may be a copy, and its mark another user's.
  void distrust_marks() { believes_marks_ = false; }
  Result<void> make_native() override;
  void require_durable() override {
    if (written_) written_->require_durable();
  }

 private:
  Result<void> begin_writing();
  [[nodiscard]] std::optional<restart::File> find_put_back() const;
  [[nodiscard]] bool has_other_name() const;
  Result<void> write_without_name();
  Result<void> write_copy_of_native();
  Result<void> write_pending();
  bool follow_renames();
  void follow_swmr_writer();
  Result<bool> pending_differs();

  std::unique_ptr<restart::PartSource> source_;
  restart::Stub stub_;
  std::string path_;
  restart::File at_path_;
  bool believes_marks_ = true;  ///< put-back marks in at_path_
  FileIdentity identity_;
  restart::PartId part_at_path_;  ///< stub_ may name a part of another generation
  std::uint64_t size_;
  bool ignore_disabled_locks_;
  std::optional<restart::NativePlace> native_;
  SwmrRole swmr_ = SwmrRole::none;
  // One small write that HDF5 may undo again: the superblock's mark.
  std::uint64_t pending_offset_ = 0;
  Bytes pending_;
  std::unique_ptr<Backend> written_;  ///< after the first change
};

}  // namespace mcr::vol
