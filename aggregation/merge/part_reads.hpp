// SPDX-License-Identifier: BSD-3-Clause
// Ways to read a frame's bytes from the parts that hold them.
#pragma once

#include <cstdint>
#include <vector>

#include "restart/base/file.hpp"

namespace mcr::aggregation {

using PartFiles = std::vector<const restart::File*>;  // by part

class PartReads {
 public:
  virtual ~PartReads() = default;
  /// Fills `out` from `offset` of the part; Cause::damaged if the part ends before.
  virtual Result<void> read(std::size_t part, std::uint64_t offset, MutableByteSpan out) = 0;
};

/// Makes one system call for each read. Thread-safe.
class DirectReads final : public PartReads {
 public:
  explicit DirectReads(const PartFiles& files) : files_(files) {}
  Result<void> read(std::size_t part, std::uint64_t offset, MutableByteSpan out) override {
    return files_[part]->read_at(offset, out);
  }

 private:
  const PartFiles& files_;
};

/// Serves small reads of one file that no longer changes. If reads follow one another closely,
/// reads a window ahead, which grows with each such read, like the kernel's read-ahead. Thousands
/// of small variables then need few system calls.
class WindowedFile {
 public:
  /// Windows smaller than a page are not used.
  WindowedFile(const restart::File& file, std::size_t most_bytes)
      : file_(&file), most_bytes_(most_bytes) {}
  Result<void> read_at(std::uint64_t offset, MutableByteSpan out);

 private:
  const restart::File* file_;
  std::size_t most_bytes_;
  std::size_t wanted_ = 0;
  std::uint64_t begin_ = 0;  ///< of the window
  Bytes window_;
  std::uint64_t end_ = 0;  ///< of the last read
};

/// Reads each part through a window of its own. Use it in one thread at a time.
class WindowedReads final : public PartReads {
 public:
  /// Limits the size of all windows together to `most_bytes`.
  WindowedReads(const PartFiles& files, std::uint64_t most_bytes);
  Result<void> read(std::size_t part, std::uint64_t offset, MutableByteSpan out) override {
    return parts_[part].read_at(offset, out);
  }

 private:
  std::vector<WindowedFile> parts_;
};

}  // namespace mcr::aggregation
