// SPDX-License-Identifier: BSD-3-Clause
// Coder of floating-point numbers by the order-0 statistics of their top bits; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& top_bits_codec();

}  // namespace mcr::codecs
