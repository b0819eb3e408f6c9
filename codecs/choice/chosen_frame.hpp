// SPDX-License-Identifier: BSD-3-Clause
// Encodes a frame with a choice that was made from other data: samples of the same variable, or an
// earlier checkpoint. If the frame is much larger than expected, a new choice is made for it. For
// example, a mask may be constant in the sampled frames and noise in this frame, or a shock may
// have just arrived in a field.
#pragma once

#include <functional>

#include "codecs/choice/chooser.hpp"
#include "codecs/frames/frame.hpp"

namespace mcr::codecs {

/// A function that does what encode_frame() does, with the same bytes; perhaps on an accelerator.
using FrameEncoder =
    std::function<Result<void>(ByteSpan, const Layout&, const Pipeline&, Scratch&, Bytes&)>;

/// Like encode_frame(), but with a choice; `columns` is as in choose(). The result depends on the
/// arguments only. Frames are encoded by `encode`.
Result<void> encode_chosen_frame(const Choice& choice, const ProfileOptions& options, ByteSpan raw,
                                 const Layout& layout, std::span<const Column> columns,
                                 Scratch& scratch, Bytes& out,
                                 const FrameEncoder& encode = encode_frame);

}  // namespace mcr::codecs
