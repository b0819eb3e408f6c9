// SPDX-License-Identifier: BSD-3-Clause
// Differences of neighbours as a transform; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& delta_codec();

}  // namespace mcr::codecs
