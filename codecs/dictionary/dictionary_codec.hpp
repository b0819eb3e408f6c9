// SPDX-License-Identifier: BSD-3-Clause
// Coder of arrays with few distinct numbers; see spec.md.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

const Codec& dictionary_codec();

}  // namespace mcr::codecs
