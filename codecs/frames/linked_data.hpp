// SPDX-License-Identifier: BSD-3-Clause
// The data to which a link frame refers, which is in the same container.
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// Raw bytes of a container's datasets, which are named by their numbers in the container's index.
/// The reader of the container implements this class, because codecs do not open files.
class LinkedData {
 public:
  virtual ~LinkedData() = default;

  /// Fills `out` with the raw (decoded) bytes of `dataset` from `raw_offset` on. Cause::damaged:
  /// the container has no such bytes, or the chain of links is too long.
  virtual Result<void> read(std::uint32_t dataset, std::uint64_t raw_offset,
                            MutableByteSpan out) = 0;
};

}  // namespace mcr::codecs
