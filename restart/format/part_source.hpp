// SPDX-License-Identifier: BSD-3-Clause
// The one interface through which the driver (and unpack, verify) reads a part's bytes, wherever
// they are.
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

class PartSource {
 public:
  virtual ~PartSource() = default;

  /// Returns the size that the file would have natively.
  [[nodiscard]] virtual std::uint64_t size() const = 0;

  /// Fills `out` from `offset`. A range beyond size() is Cause::usage. An error about damage names
  /// container, variable and rank; other ranges stay readable.
  virtual Result<void> read_at(std::uint64_t offset, MutableByteSpan out) = 0;
};

}  // namespace mcr::restart
