// SPDX-License-Identifier: BSD-3-Clause
// lz4 as a coder; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& lz4_codec();

}  // namespace mcr::codecs
