// SPDX-License-Identifier: BSD-3-Clause
// One of HDF5's handles on a part that this process is writing. A handle that created or wrote the
// file publishes the part when it is closed; HDF5's tentative handles do not.
#pragma once

#include "vol/capture/staged_file.hpp"

namespace mcr::vol {

class StageBackend : public Backend {
 public:
  StageBackend(std::shared_ptr<StagedFile> file, bool writes, bool ignore_disabled_locks)
      : file_(std::move(file)), writes_(writes), ignore_disabled_locks_(ignore_disabled_locks) {}

  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
  Result<void> read(std::uint64_t offset, MutableByteSpan out) override {
    return file_->read(offset, out);
  }
  Result<void> write(std::uint64_t offset, ByteSpan data) override;
  Result<void> truncate(std::uint64_t size) override;
  Result<void> flush() override;
  /// Locks the file at the path (flock), as native HDF5 does, so that other programs are kept out
  /// too.
  Result<void> lock(bool exclusive) override;
  Result<void> unlock() override;
  Result<void> close() override;
  [[nodiscard]] int descriptor() const override { return file_->descriptor(); }
  [[nodiscard]] FileIdentity identity() const override { return file_->identity(); }
  [[nodiscard]] Content content() const override { return {Content::Kind::any}; }
  Result<void> make_native() override { return file_->make_native(); }
  void require_durable() override { file_->require_durable(); }

 private:
  std::shared_ptr<StagedFile> file_;
  bool writes_;
  bool ignore_disabled_locks_;
};

/// Calls flock without waiting, as HDF5 does.
Result<void> lock_descriptor(int descriptor, int operation, bool ignore_disabled);

}  // namespace mcr::vol
