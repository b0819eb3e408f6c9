// SPDX-License-Identifier: BSD-3-Clause
// HDF5's file driver for a container that is being written. HDF5 lays the file out and writes its
// metadata through this driver. Frames are not written here: HDF5 only gives each frame a place, so
// that several threads can write frames at a time. The layout is that of HDF5's own driver (sec2).
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>

#include "codecs/base/bytes.hpp"
#include "codecs/base/result.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

class ContainerFile {
 public:
  /// `file` must outlive this object and HDF5's file.
  explicit ContainerFile(const restart::File& file) : file_(file) {}
  ContainerFile(const ContainerFile&) = delete;
  ContainerFile& operator=(const ContainerFile&) = delete;

  /// Makes HDF5 open this file, whatever name is given to it. Returns false on an error of HDF5.
  bool choose_for(hid_t access_list);

  /// From now on the next write of exactly these bytes is not carried out, but its place is kept.
  void expect_frame(ByteSpan frame) { expected_ = frame; }
  /// Returns the place that HDF5 chose for the expected frame; nothing if HDF5 wrote no such bytes.
  std::optional<std::uint64_t> take_place();

  /// The first error of a write by HDF5. HDF5 itself is told of no error, because it cannot close a file
  /// and its datasets after one, and crashes at the process's end. So ask for it after each of its calls.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  friend struct ContainerDriver;

  void write(std::uint64_t address, ByteSpan data);
  void keep(const Result<void>& result);

  const restart::File& file_;
  std::uint64_t end_ = 0;  ///< behind the last byte that was written or has a place
  ByteSpan expected_;
  std::optional<std::uint64_t> place_;
  std::optional<Error> error_;
};

}  // namespace mcr::aggregation
