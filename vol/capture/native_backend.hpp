// SPDX-License-Identifier: BSD-3-Clause
// A native file (not captured, or spilled), with the same operations as HDF5's sec2 driver.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"
#include "vol/capture/backend.hpp"

namespace mcr::vol {

class NativeBackend : public Backend {
 public:
  /// `ignore_disabled_locks`: a file system without locks is not an error.
  NativeBackend(restart::File file, FileIdentity identity, std::uint64_t size,
                bool ignore_disabled_locks)
      : file_(std::move(file)),
        identity_(identity),
        size_(size),
        ignore_disabled_locks_(ignore_disabled_locks) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, MutableByteSpan out) override;
  Result<void> write(std::uint64_t offset, ByteSpan data) override;
  Result<void> truncate(std::uint64_t size) override;
  Result<void> lock(bool exclusive) override;
  Result<void> unlock() override;
  Result<void> close() override;
  enum class Note : std::uint8_t { unfinished, complete };
  /// From now on, close() also completes the file's note in `containers`
  /// (restart/sets/native_members). The file is that part. If the note is complete, the first write makes it
  /// unfinished: if the program dies before the close, the set is not whole.
  void note_in(std::string containers, const restart::PartId& part, Note note) {
    containers_ = std::move(containers);
    part_ = part;
    note_ = note;
  }
  [[nodiscard]] int descriptor() const override { return file_.descriptor(); }
  [[nodiscard]] const restart::File& file() const { return file_; }
  [[nodiscard]] FileIdentity identity() const override { return identity_; }
  [[nodiscard]] Content content() const override { return {Content::Kind::native}; }

 private:
  void make_note_unfinished();

  restart::File file_;
  FileIdentity identity_;
  std::uint64_t size_;
  bool ignore_disabled_locks_;
  std::string containers_;
  restart::PartId part_;
  Note note_ = Note::unfinished;
};

}  // namespace mcr::vol
