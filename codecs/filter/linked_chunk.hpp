// SPDX-License-Identifier: BSD-3-Clause
// What the filter needs for chunks that refer to solid frames of their container. Codecs know
// nothing of files: restart/filter implements it, and the plugin is linked there.
#pragma once

#include <array>
#include <cstdint>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::codecs {

/// Decodes the link frame `frame` into `raw`, by the container `uuid` among this process's open
/// descriptors. Cause::unsupported where it is not there: the message names the remedy.
Result<void> decode_linked_chunk(const std::array<std::uint8_t, 16>& uuid, ByteSpan frame,
                                 Scratch& scratch, MutableByteSpan raw);

/// Whether HDF5 may be reading a stranger's file: one is open in this process that belongs neither
/// to this user nor to root. An error says so and names the remedy.
Result<void> may_decode_unchecked_here();

}  // namespace mcr::codecs
