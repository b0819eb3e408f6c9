// SPDX-License-Identifier: BSD-3-Clause
// The data to which a linked frame refers: other data of the same container.
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// Raw bytes of one container's datasets, by their numbers in its index. The reader of the
/// container implements this; codecs do not open files.
class LinkedData {
 public:
  virtual ~LinkedData() = default;

  /// Fills `out` with the raw (decoded) bytes of `dataset` from `raw_offset` on. Cause::damaged if
  /// the container has no such bytes, or the chain of links is too deep.
  virtual Result<void> read(std::uint32_t dataset, std::uint64_t raw_offset,
                            MutableByteSpan out) = 0;
};

}  // namespace mcr::codecs
