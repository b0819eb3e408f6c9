// SPDX-License-Identifier: BSD-3-Clause
// fpzip as a coder; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& fpzip_codec();

}  // namespace mcr::codecs
