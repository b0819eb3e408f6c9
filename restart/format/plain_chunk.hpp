// SPDX-License-Identifier: BSD-3-Clause
// Chunks of containers with the profile `portable`: what HDF5's own filters, shuffle (elements of
// more than one byte) and deflate, make of a whole chunk; no frame of ours around it.
// docs/format.md, "Plain chunks".
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::restart {

/// Appends the chunk of `chunk_bytes` that begins with `raw` and is zero behind it.
Result<void> encode_plain_chunk(ByteSpan raw, std::uint32_t element_bytes,
                                std::uint32_t chunk_bytes, Scratch& scratch, Bytes& out);

/// Fills `raw`, at most `chunk_bytes` long, with the chunk's first bytes.
Result<void> decode_plain_chunk(ByteSpan stored, std::uint32_t element_bytes,
                                std::uint32_t chunk_bytes, Scratch& scratch, MutableByteSpan raw);

}  // namespace mcr::restart
