// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/kernels/kernel_table.hpp"

#include <array>

#include "codecs/gpu/kernels/context_kernels.hpp"
#include "codecs/gpu/kernels/decode_kernels.hpp"
#include "codecs/gpu/kernels/dictionary_kernels.hpp"
#include "codecs/gpu/kernels/entropy_kernels.hpp"
#include "codecs/gpu/kernels/kernel_list.hpp"
#include "codecs/gpu/kernels/lorenzo_decode_kernels.hpp"
#include "codecs/gpu/kernels/lorenzo_kernels.hpp"
#include "codecs/gpu/kernels/rest_kernels.hpp"
#include "codecs/gpu/kernels/sum_kernels.hpp"
#include "codecs/gpu/kernels/word_kernels.hpp"

namespace mcr::codecs::gpu {
namespace {

constexpr std::array table{
#define MCR_ROW(name) Kernel{"mcr_" #name, mcr_##name},
    MCR_EACH_KERNEL(MCR_ROW)
#undef MCR_ROW
};

}  // namespace

std::span<const Kernel> kernel_table() { return table; }

}  // namespace mcr::codecs::gpu
