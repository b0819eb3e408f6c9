// SPDX-License-Identifier: BSD-3-Clause
// zstd as a coder; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& zstd_codec();

}  // namespace mcr::codecs
