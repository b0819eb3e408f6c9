// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/frame_decoding.hpp"

#include <atomic>

#include "codecs/frames/frame.hpp"

namespace mcr::restart {
namespace {

Result<void> decode_on_cpu(ByteSpan frame, Scratch& scratch, MutableByteSpan raw) {
  return codecs::decode_frame(frame, scratch, raw);
}

constexpr FrameDecoding on_cpu{decode_on_cpu, nullptr};
constinit std::atomic<const FrameDecoding*> chosen{&on_cpu};

}  // namespace

void set_frame_decoding(const FrameDecoding& decoding) { chosen = &decoding; }
const FrameDecoding& frame_decoding() { return *chosen.load(); }

}  // namespace mcr::restart
