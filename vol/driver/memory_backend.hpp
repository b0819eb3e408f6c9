// SPDX-License-Identifier: BSD-3-Clause
// Works like HDF5's core driver, over a file of any other backend. The file is loaded when it is
// opened, and reads and writes stay in memory. Only with a backing store (H5Pset_fapl_core) are
// written ranges copied into the file, at a flush and at the close.
#pragma once

#include "vol/capture/backend.hpp"
#include "vol/capture/written_ranges.hpp"
#include "vol/driver/chosen_driver.hpp"

namespace mcr::vol {

class MemoryBackend : public Backend {
 public:
  static Result<std::unique_ptr<MemoryBackend>> load(std::unique_ptr<Backend> file,
                                                     const CoreSettings& core);

  /// H5FD_truncate: except at a close, the core driver keeps a multiple of its increment.
  Result<void> resize(std::uint64_t end_of_addresses, bool is_closing);
  /// Writes the changes into the file; does nothing without a backing store.
  Result<void> write_back();
  [[nodiscard]] bool has_backing_store() const { return core_.has_backing_store; }
  /// Returns the bytes that H5Fget_vfd_handle points to.
  [[nodiscard]] const std::byte* bytes() const { return bytes_.data(); }

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  Result<void> read(std::uint64_t offset, MutableByteSpan out) override;
  Result<void> write(std::uint64_t offset, ByteSpan data) override;
  Result<void> truncate(std::uint64_t size) override { return resize(size, true); }
  Result<void> flush() override;
  Result<void> lock(bool exclusive) override { return file_->lock(exclusive); }
  Result<void> unlock() override { return file_->unlock(); }
  Result<void> close() override;
  [[nodiscard]] int descriptor() const override { return file_->descriptor(); }
  [[nodiscard]] FileIdentity identity() const override { return file_->identity(); }
  [[nodiscard]] Content content() const override { return file_->content(); }

 private:
  MemoryBackend(std::unique_ptr<Backend> file, const CoreSettings& core)
      : file_(std::move(file)), core_(core) {}
  [[nodiscard]] std::uint64_t rounded_up(std::uint64_t size) const;

  std::unique_ptr<Backend> file_;
  CoreSettings core_;
  Bytes bytes_;
  WrittenRanges written_;  ///< the ranges that the backing store does not have yet
};

}  // namespace mcr::vol
