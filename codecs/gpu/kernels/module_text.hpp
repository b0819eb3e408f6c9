// SPDX-License-Identifier: BSD-3-Clause
// The kernels as PTX, which the driver of a card assembles.
#pragma once

#include <string_view>

namespace mcr::codecs::gpu {

/// A zero byte follows the text. Empty if this build has no kernels (-Dgpu=disabled).
std::string_view module_text();

}  // namespace mcr::codecs::gpu
