// SPDX-License-Identifier: BSD-3-Clause
// Where a linked frame finds the data that it refers to: other data of the same container.
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// Raw bytes of one container's datasets, by the numbers that its index gives them. The reader of
/// the container implements it; codecs know nothing of files.
class LinkedData {
 public:
  virtual ~LinkedData() = default;

  /// Fills `out` with the raw (decoded) bytes of `dataset` from `raw_offset` on.
  /// Cause::damaged where the container has no such bytes or the chain of links is too deep.
  virtual Result<void> read(std::uint32_t dataset, std::uint64_t raw_offset,
                            MutableByteSpan out) = 0;
};

}  // namespace mcr::codecs
