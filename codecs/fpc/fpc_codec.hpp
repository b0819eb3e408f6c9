// SPDX-License-Identifier: BSD-3-Clause
// FPC as a coder; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& fpc_codec();

}  // namespace mcr::codecs
