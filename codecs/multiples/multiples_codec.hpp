// SPDX-License-Identifier: BSD-3-Clause
// Multiples of a common step as a transform; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& multiples_codec();

}  // namespace mcr::codecs
