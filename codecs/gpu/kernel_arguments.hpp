// SPDX-License-Identifier: BSD-3-Clause
// What host and kernels agree on. Compiled for both, so it includes nothing of ours.
#pragma once

#include <cstdint>

namespace mcr::codecs::gpu {

/// An address in the accelerator's memory. Kernels see it as a pointer; the host never follows it.
using DeviceAddress = std::uint64_t;

/// What every kernel gets: up to 16 words; a kernel's own comment says what each one is.
struct KernelArguments {
  std::uint64_t words[16] = {};
};

/// Threads of a block, the same for all kernels.
inline constexpr unsigned k_block_threads = 256;

/// Number of a kernel in kernel_table().
using KernelNumber = std::uint32_t;

}  // namespace mcr::codecs::gpu
