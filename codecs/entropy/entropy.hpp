// SPDX-License-Identifier: BSD-3-Clause
// Order-0 entropy coding of 8-bit symbols: canonical Huffman codes of at most 11 bits, or tANS,
// with escapes for what is constant or does not shrink. spec.md has every bit.
//
// Symbols are coded in segments of 32768, each in four streams, so that one core decodes four
// symbols at a time and several cores, or a GPU, could share a block: all segments use the block's
// one table, and their sizes stand in front.
#pragma once

#include <cstdint>
#include <span>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs::entropy {

using Symbols = std::span<const std::uint8_t>;
using MutableSymbols = std::span<std::uint8_t>;

/// What the encoder may use. The decoder reads it from the block.
enum class Method : std::uint8_t {
  huffman,   ///< fastest
  smallest,  ///< tANS where it saves at least half a percent, else Huffman
};

/// How often each symbol occurs.
struct Histogram {
  std::uint32_t count[256] = {};
};
Histogram count_symbols(Symbols symbols);

/// Estimated size of encode_block's answer in bytes, from counts alone.
std::size_t estimate_block(const Histogram& histogram, Method method);

/// Most bytes that encode_block writes for `count` symbols (it may use all of them as working
/// space).
std::size_t block_bound(std::size_t count);

/// Encodes `symbols` into `out` (at least block_bound() long); answers the block's length. The
/// counts are those of `symbols`.
std::size_t encode_block(Symbols symbols, const Histogram& histogram, Method method,
                         MutableByteSpan out);
inline std::size_t encode_block(Symbols symbols, Method method, MutableByteSpan out) {
  return encode_block(symbols, count_symbols(symbols), method, out);
}

/// Fills `symbols` from `block`, which must be one block, whole and nothing more. `block` may be
/// anything: nothing outside both spans is touched. False where it is damaged.
[[nodiscard]] bool decode_block(ByteSpan block, MutableSymbols symbols);

}  // namespace mcr::codecs::entropy
