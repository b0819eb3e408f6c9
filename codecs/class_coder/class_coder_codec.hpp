// SPDX-License-Identifier: BSD-3-Clause
// Coder of small unsigned numbers of any width; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& class_coder_codec();

}  // namespace mcr::codecs
