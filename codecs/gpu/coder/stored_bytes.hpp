// SPDX-License-Identifier: BSD-3-Clause
// Bytes that are in the host's memory and in the accelerator's.
#pragma once

#include "codecs/gpu/coder/device.hpp"

namespace mcr::codecs::gpu {

struct StoredBytes {
  ByteSpan bytes;
  DeviceAddress at = 0;

  [[nodiscard]] StoredBytes from(std::size_t offset) const {
    return {bytes.subspan(offset), at + offset};
  }
  /// `part` lies in `bytes`.
  [[nodiscard]] StoredBytes part(ByteSpan part) const {
    return {part, at + static_cast<std::size_t>(part.data() - bytes.data())};
  }
};

}  // namespace mcr::codecs::gpu
