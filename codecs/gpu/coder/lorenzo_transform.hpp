// SPDX-License-Identifier: BSD-3-Clause
// The codec `lorenzo` on an accelerator.
#pragma once

#include "codecs/gpu/coder/transforms.hpp"

namespace mcr::codecs::gpu {

/// Write the result to the spare memory. `layout` is the one of the numbers.
Result<void> do_lorenzo(Device& device, const DeviceData& data, const Layout& layout,
                        ByteSpan parameters);
Result<void> undo_lorenzo(Device& device, const DeviceData& data, const Layout& layout,
                          ByteSpan parameters);

/// False if undo_lorenzo() would take far longer than the CPU.
bool lorenzo_undoes_fast(const Layout& layout, ByteSpan parameters);

/// Writes the running sums of `count` words to `to`. `from_zigzag`: the words are zigzag numbers.
Result<void> sum_words(Device& device, DeviceAddress from, std::uint64_t count, std::uint64_t size,
                       bool from_zigzag, DeviceAddress to);

}  // namespace mcr::codecs::gpu
