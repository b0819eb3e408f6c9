// SPDX-License-Identifier: BSD-3-Clause
// By which function container readers of this process decode frames. The filter plugin, which other programs
// load, keeps the CPU's; so it holds no code for GPUs.
#pragma once

#include "codecs/base/bytes.hpp"
#include "codecs/base/result.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::restart {

struct FrameDecoding {
  /// Does what codecs::decode_frame() does without linked data. Thread-safe.
  Result<void> (*decode)(ByteSpan frame, Scratch& scratch, MutableByteSpan raw);
  /// Called when a file that was read is closed; may be null.
  void (*after_file)();
};

/// `decoding` must live until the process ends.
void set_frame_decoding(const FrameDecoding& decoding);
const FrameDecoding& frame_decoding();

}  // namespace mcr::restart
