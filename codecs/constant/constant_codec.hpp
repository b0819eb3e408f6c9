// SPDX-License-Identifier: BSD-3-Clause
// One element for all as a coder; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& constant_codec();

}  // namespace mcr::codecs
