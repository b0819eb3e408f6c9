// SPDX-License-Identifier: BSD-3-Clause
// The interface of the driver's backends. A backend knows where the bytes of one open file are.
#pragma once

#include <cstdint>
#include <memory>

#include "codecs/base/bytes.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::vol {

/// Identifies the file at the path. HDF5 compares open files by it, as it does with the sec2
/// driver.
using restart::FileIdentity;

/// What the file at an inode stands for. The inode alone does not suffice, because `cp` writes
/// another stub into the same file.
struct Content {
  enum class Kind {
    any,     ///< compares equal to any content: a part that this process writes
    native,  ///< the file's own bytes
    part,    ///< the part that a stub names
  };
  Kind kind = Kind::native;
  restart::PartId part{};
  [[nodiscard]] bool is_same(const Content& other) const {
    return kind == Kind::any || other.kind == Kind::any ||
           (kind == other.kind && (kind == Kind::native || part == other.part));
  }
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// Returns the file's size as native HDF5 would see it.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills `out`; bytes after the end, or never written, are zeros.
  virtual Result<void> read(std::uint64_t offset, MutableByteSpan out) = 0;
  virtual Result<void> write(std::uint64_t offset, ByteSpan data) = 0;
  /// Sets the file's size.
  virtual Result<void> truncate(std::uint64_t size) = 0;
  /// H5Fflush: the bytes written so far must survive the process.
  virtual Result<void> flush() { return {}; }
  /// Takes HDF5's file lock without waiting; Cause::system with errno if another process has it.
  virtual Result<void> lock(bool exclusive) = 0;
  virtual Result<void> unlock() = 0;
  /// Closes the file; no other call follows. Errors reach the program's H5Fclose.
  virtual Result<void> close() = 0;

  /// Returns a descriptor of the file at the path (for a part: of its stub).
  [[nodiscard]] virtual int descriptor() const = 0;
  [[nodiscard]] virtual FileIdentity identity() const = 0;
  /// HDF5 lets two handles share one file only if identity and content agree.
  [[nodiscard]] virtual Content content() const = 0;

  /// Makes the file a native one from now on.
  virtual Result<void> make_native() { return {}; }
  /// From now on, close() waits until the file is durable, because the program asked for its
  /// descriptor.
  virtual void require_durable() {}
};

}  // namespace mcr::vol
