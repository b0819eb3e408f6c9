// SPDX-License-Identifier: BSD-3-Clause
// Numbers to order-preserving integers as a transform; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& ordered_int_codec();

}  // namespace mcr::codecs
