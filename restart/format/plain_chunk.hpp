// SPDX-License-Identifier: BSD-3-Clause
// Chunks of containers with the profile `portable`: the output of HDF5's own filters, shuffle (for
// elements of more than one byte) and deflate, for a whole chunk, without our frame.
// docs/format.md, "Plain chunks".
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::restart {

/// Appends the chunk of `chunk_bytes` that begins with `raw` and continues with zeros.
Result<void> encode_plain_chunk(ByteSpan raw, std::uint32_t element_bytes,
                                std::uint32_t chunk_bytes, Scratch& scratch, Bytes& out);

/// Fills `raw`, of at most `chunk_bytes`, with the first bytes of the decoded chunk.
Result<void> decode_plain_chunk(ByteSpan stored, std::uint32_t element_bytes,
                                std::uint32_t chunk_bytes, Scratch& scratch, MutableByteSpan raw);

}  // namespace mcr::restart
