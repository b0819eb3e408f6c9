// SPDX-License-Identifier: BSD-3-Clause
// Signed to unsigned numbers as a transform; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& zigzag_codec();

}  // namespace mcr::codecs
