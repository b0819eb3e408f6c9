// SPDX-License-Identifier: BSD-3-Clause
// What the filter finds out from the process's open files: the container whose solid frames a chunk
// links to, and whether a file of another user may be read.
#pragma once

#include <array>
#include <cstdint>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::restart {

/// Decodes the link frame `frame` into `raw`, with the container `uuid` among this process's open
/// descriptors. Cause::unsupported if the container is not open; the message names the remedy.
Result<void> decode_linked_chunk(const std::array<std::uint8_t, 16>& uuid, ByteSpan frame,
                                 Scratch& scratch, MutableByteSpan raw);

/// Fails if HDF5 may be reading another user's file: the process has a file open that belongs
/// neither to this user nor to root. The error names the file's user and the remedy.
Result<void> may_decode_unchecked_here();

}  // namespace mcr::restart
