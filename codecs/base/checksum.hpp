// SPDX-License-Identifier: BSD-3-Clause
// The one checksum of the project: XXH3-64 (xxHash, seed 0), also as a running sum.
#pragma once

#include <cstdint>
#include <memory>

#include "codecs/base/bytes.hpp"

namespace mcr {

/// Returns XXH3-64 of `data`.
std::uint64_t checksum(ByteSpan data);

/// XXH3-64 of bytes that arrive in pieces; equals `checksum` of their concatenation.
class RunningChecksum {
 public:
  RunningChecksum();
  ~RunningChecksum();
  RunningChecksum(const RunningChecksum&) = delete;
  RunningChecksum& operator=(const RunningChecksum&) = delete;

  void add(ByteSpan data);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mcr
