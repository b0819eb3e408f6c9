// SPDX-License-Identifier: BSD-3-Clause
// Order-0 entropy coder of bytes; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& entropy_codec();

}  // namespace mcr::codecs
