// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/kernels/kernel_names.hpp"

#include <array>

#include "codecs/gpu/kernels/kernel_list.hpp"

namespace mcr::codecs::gpu {
namespace {

constexpr std::array names{
#define MCR_ROW(name) "mcr_" #name,
    MCR_EACH_KERNEL(MCR_ROW)
#undef MCR_ROW
};

}  // namespace

std::span<const char* const> kernel_names() { return names; }

}  // namespace mcr::codecs::gpu
