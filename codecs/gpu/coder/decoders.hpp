// SPDX-License-Identifier: BSD-3-Clause
// The decoders of pipelines' last steps on an accelerator.
#pragma once

#include "codecs/base/layout.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/gpu/coder/block_decoder.hpp"

namespace mcr::codecs::gpu {

/// What all decoders get. The data has at least one element, and the codec accepts layout and
/// parameters.
struct DecoderInput {
  Device& device;
  StoredBytes stored;  ///< the payload; no byte of it is trusted
  const Layout& layout;
  ByteSpan parameters;
  DeviceAddress error;  ///< a number that becomes 1 if kernels find damage
  Scratch& scratch;
  std::vector<Bytes>& kept;  ///< for bytes of the host that must stay valid until finish()
};

/// Fills the elements at `to`.
using Decoder = Result<void> (*)(const DecoderInput& input, DeviceAddress to);

/// Without contexts, in which each symbol waits for the one before.
Result<void> decode_class(const DecoderInput& input, DeviceAddress to);
Result<void> decode_dictionary(const DecoderInput& input, DeviceAddress to);
Result<void> decode_entropy(const DecoderInput& input, DeviceAddress to);
Result<void> decode_planes(const DecoderInput& input, DeviceAddress to);
Result<void> decode_top_bits(const DecoderInput& input, DeviceAddress to);

}  // namespace mcr::codecs::gpu
