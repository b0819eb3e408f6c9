// SPDX-License-Identifier: BSD-3-Clause
// Decides by a sample whether a plane of bytes has repeats that a string matcher would find.
#pragma once

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs {

/// True if zstd at `level` is expected to make `plane` at least a fortieth smaller than the entropy
/// coder, whose estimate for the whole plane is `entropy_bytes`. Compresses at most 16 KiB.
Result<bool> repeats_pay(ByteSpan plane, std::size_t entropy_bytes, entropy::Method method,
                         int level, Scratch& scratch);
/// The same from the plane's size and its bytes at sample_of_plane(), which decide alone.
Result<bool> repeats_pay(ByteSpan sample, std::size_t plane_bytes, std::size_t entropy_bytes,
                         entropy::Method method, int level, Scratch& scratch);

struct PlaneSample {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};
PlaneSample sample_of_plane(std::size_t plane_bytes);

/// Appends zstd's frame of `plane` to `out`.
Result<void> encode_repeats(ByteSpan plane, int level, Scratch& scratch, Bytes& out);

/// Fills `plane` from a zstd frame.
Result<void> decode_repeats(ByteSpan stored, Scratch& scratch, MutableByteSpan plane);

}  // namespace mcr::codecs
