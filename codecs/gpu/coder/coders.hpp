// SPDX-License-Identifier: BSD-3-Clause
// The coders at the end of pipelines, on an accelerator. Each appends to `payload` what the codec's
// encode() appends. The data has at least one element, and the codec accepts layout and parameters.
#pragma once

#include "codecs/base/scratch.hpp"
#include "codecs/gpu/coder/transforms.hpp"

namespace mcr::codecs::gpu {

/// What all coders get.
struct CoderInput {
  Device& device;
  const DeviceData& data;
  const Layout& layout;  ///< of the data
  ByteSpan raw;          ///< the frame's bytes, from which transforms made the data
  ByteSpan parameters;
  Scratch& scratch;
};

using Coder = Result<void> (*)(const CoderInput& input, Bytes& payload);

Result<void> encode_class(const CoderInput& input, Bytes& payload);
/// Cause::usage: there are too many different numbers.
Result<void> encode_dictionary(const CoderInput& input, Bytes& payload);
Result<void> encode_entropy(const CoderInput& input, Bytes& payload);
Result<void> encode_planes(const CoderInput& input, Bytes& payload);
/// The data must be the frame's bytes.
Result<void> encode_top_bits(const CoderInput& input, Bytes& payload);

}  // namespace mcr::codecs::gpu
