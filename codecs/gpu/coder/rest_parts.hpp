// SPDX-License-Identifier: BSD-3-Clause
// The rest bits of words (codecs/entropy/rest_bits.hpp), one part for each segment.
#pragma once

#include "codecs/entropy/segments.hpp"
#include "codecs/gpu/coder/parts.hpp"

namespace mcr::codecs::gpu {

inline Result<void> reserve_rest(Device& device, std::uint64_t count, std::uint64_t word_bytes,
                                 PartList& rest) {
  return rest.reserve(device, entropy::segments_of(static_cast<std::size_t>(count)),
                      entropy::segment_symbols * word_bytes + 16);
}

inline void append_rest(const PartList& rest, Bytes& out) {
  Writer writer(out);
  for (std::size_t part = 0; part < rest.count(); ++part) writer.u32(rest.size(part));
  writer.bytes(rest.bytes(0, rest.count()));
}

}  // namespace mcr::codecs::gpu
