// SPDX-License-Identifier: BSD-3-Clause
// The fitted stencil as a transform; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& stencil_codec();

/// Returns parameters fitted to `raw`, which has this machine's byte order and is exactly
/// `layout.raw_bytes()` long. Cause::usage: the codec cannot take this layout.
Result<Bytes> fit_stencil_parameters(ByteSpan raw, const Layout& layout, Scratch& scratch);

}  // namespace mcr::codecs
