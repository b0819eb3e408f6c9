// SPDX-License-Identifier: BSD-3-Clause
// A coder that stores one element of an array of equal elements; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& constant_codec();

}  // namespace mcr::codecs
