// SPDX-License-Identifier: BSD-3-Clause
// Array of structures to structure of arrays as a transform; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& structure_split_codec();

}  // namespace mcr::codecs
