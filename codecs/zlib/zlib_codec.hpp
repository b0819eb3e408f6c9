// SPDX-License-Identifier: BSD-3-Clause
// zlib as a coder; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& zlib_codec();

}  // namespace mcr::codecs
