// SPDX-License-Identifier: BSD-3-Clause
// What the driver's three backends have in common: where the bytes of one open file are.
#pragma once

#include <cstdint>
#include <memory>

#include "codecs/base/bytes.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::vol {

/// HDF5 compares open files by the identity of what lies at the path, as sec2 does.
using restart::FileIdentity;

/// What stands at that inode, because `cp` writes another stub into the file that lies there.
struct Content {
  enum class Kind {
    any,     ///< compares equal to whatever is there: a part that this process writes
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

  /// End of file as native HDF5 would see it.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// What is behind the end, or was never written, reads as zeros.
  virtual Result<void> read(std::uint64_t offset, MutableByteSpan out) = 0;
  virtual Result<void> write(std::uint64_t offset, ByteSpan data) = 0;
  /// Makes the file exactly so long.
  virtual Result<void> truncate(std::uint64_t size) = 0;
  /// H5Fflush: what was written so far survives the process.
  virtual Result<void> flush() { return {}; }
  /// HDF5's file locking, never waiting; Cause::system with errno where another has it.
  virtual Result<void> lock(bool exclusive) = 0;
  virtual Result<void> unlock() = 0;
  /// The end of the file: nothing is called after it. Errors reach the program's H5Fclose.
  virtual Result<void> close() = 0;

  /// A descriptor of what lies at the path (a stub's own, for a part).
  [[nodiscard]] virtual int descriptor() const = 0;
  [[nodiscard]] virtual FileIdentity identity() const = 0;
  /// Two handles of HDF5 share one file only where identity and content agree.
  [[nodiscard]] virtual Content content() const = 0;

  /// The same file as a native one from now on.
  virtual Result<void> make_native() { return {}; }
  /// The program waits for durability: it asked for the file's descriptor.
  virtual void require_durable() {}
};

}  // namespace mcr::vol
