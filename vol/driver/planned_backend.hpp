// SPDX-License-Identifier: BSD-3-Clause
// The backend for HDF5's first, tentative open of a file that it will create over another file.
// With this open HDF5 only finds out whether the process has that other file open already. For that
// it compares identities, so a stub's container need not be opened.
#pragma once

#include "vol/capture/backend.hpp"

namespace mcr::vol {

class PlannedBackend : public Backend {
 public:
  explicit PlannedBackend(FileIdentity identity) : identity_(identity) {}

  [[nodiscard]] std::uint64_t size() const override { return 0; }
  [[nodiscard]] FileIdentity identity() const override { return identity_; }
  [[nodiscard]] Content content() const override { return {Content::Kind::any}; }
  [[nodiscard]] int descriptor() const override { return -1; }
  Result<void> read(std::uint64_t, MutableByteSpan) override { return refused(); }
  Result<void> write(std::uint64_t, ByteSpan) override { return refused(); }
  Result<void> truncate(std::uint64_t) override { return refused(); }
  Result<void> flush() override { return {}; }
  Result<void> lock(bool) override { return {}; }
  Result<void> unlock() override { return {}; }
  Result<void> close() override { return {}; }

 private:
  static Error refused() {
    return Error{Cause::usage, "the file is about to be created and is not open yet"};
  }

  FileIdentity identity_;
};

}  // namespace mcr::vol
