// SPDX-License-Identifier: BSD-3-Clause
// A frame by a choice that was made from other data: samples of the same variable, or an earlier
// checkpoint. What it expected is compared with what came out, and the frame chooses for itself
// where that disagrees: a mask that is constant in the sampled frames and noise in this one, a
// field whose shock has just arrived.
#pragma once

#include "codecs/choice/chooser.hpp"

namespace mcr::codecs {

/// As encode_frame. `columns` as in choose(). Depends on nothing but the arguments.
Result<void> encode_chosen_frame(const Choice& choice, const ProfileOptions& options, ByteSpan raw,
                                 const Layout& layout, std::span<const Column> columns,
                                 Scratch& scratch, Bytes& out);

}  // namespace mcr::codecs
