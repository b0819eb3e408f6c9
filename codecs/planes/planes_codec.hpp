// SPDX-License-Identifier: BSD-3-Clause
// Coder of byte planes, each coded separately; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& planes_codec();

}  // namespace mcr::codecs
