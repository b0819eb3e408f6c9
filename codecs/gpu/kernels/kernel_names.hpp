// SPDX-License-Identifier: BSD-3-Clause
// The names of all kernels, for a card's driver, which finds a kernel by its name.
#pragma once

#include <span>

namespace mcr::codecs::gpu {

/// By KernelNumber.
std::span<const char* const> kernel_names();

}  // namespace mcr::codecs::gpu
