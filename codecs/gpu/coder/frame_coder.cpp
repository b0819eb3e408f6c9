// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/coder/frame_coder.hpp"

namespace mcr::codecs::gpu {

bool can_encode(const Pipeline&, const Layout&) { return false; }

Result<void> encode_frame(Queue&, ByteSpan, const Layout&, const Pipeline&, Scratch&, Bytes&) {
  return Error{Cause::usage, "gpu: the pipeline is not for accelerators"};
}

bool can_decode(ByteSpan) { return false; }

Result<void> decode_frame(Queue&, ByteSpan, Scratch&, MutableByteSpan) {
  return Error{Cause::usage, "gpu: the pipeline is not for accelerators"};
}

}  // namespace mcr::codecs::gpu
