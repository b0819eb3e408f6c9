// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo prediction as a transform; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& lorenzo_codec();

}  // namespace mcr::codecs
