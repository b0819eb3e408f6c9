// SPDX-License-Identifier: BSD-3-Clause
// Byte transposition as a transform; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& transpose_codec();

}  // namespace mcr::codecs
