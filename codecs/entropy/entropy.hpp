// SPDX-License-Identifier: BSD-3-Clause
// Order-0 entropy coding of 8-bit symbols: canonical Huffman codes of at most 11 bits, or tANS.
// If all symbols are equal, or if they do not shrink, they are stored in other modes. spec.md
// describes every bit.
//
// Symbols are coded in segments of 32768. A segment has four streams, so that one core decodes four
// symbols at a time. Several cores, or a GPU, could share a block, because all segments use the
// same table and their sizes come first.
#pragma once

#include <cstdint>
#include <span>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs::entropy {

using Symbols = std::span<const std::uint8_t>;
using MutableSymbols = std::span<std::uint8_t>;

/// The methods that the encoder may use. The decoder reads the method from the block.
enum class Method : std::uint8_t {
  huffman,   ///< fastest
  smallest,  ///< tANS if it saves at least half a percent, otherwise Huffman
};

/// How often each symbol occurs.
struct Histogram {
  std::uint32_t count[256] = {};
};
Histogram count_symbols(Symbols symbols);

/// Returns the estimated size of encode_block's result in bytes, from the counts alone.
std::size_t estimate_block(const Histogram& histogram, Method method);

/// Returns the most bytes that encode_block writes for `count` symbols, working space included.
std::size_t block_bound(std::size_t count);

/// Encodes `symbols`, whose counts are `histogram`, into `out` (at least block_bound() long).
/// Returns the block's length.
std::size_t encode_block(Symbols symbols, const Histogram& histogram, Method method,
                         MutableByteSpan out);
inline std::size_t encode_block(Symbols symbols, Method method, MutableByteSpan out) {
  return encode_block(symbols, count_symbols(symbols), method, out);
}

/// Fills `symbols` from `block`, which must be exactly one whole block. Returns false if the block
/// is damaged. Whatever `block` holds, reads and writes stay inside the two spans.
[[nodiscard]] bool decode_block(ByteSpan block, MutableSymbols symbols);

}  // namespace mcr::codecs::entropy
