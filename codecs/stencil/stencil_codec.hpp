// SPDX-License-Identifier: BSD-3-Clause
// The fitted stencil as a transform; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& stencil_codec();

/// Returns parameters fitted to `raw` (this machine's byte order), which is exactly
/// `layout.raw_bytes()` long. Cause::usage if the codec cannot take such a layout.
Result<Bytes> fit_stencil_parameters(ByteSpan raw, const Layout& layout, Scratch& scratch);

}  // namespace mcr::codecs
