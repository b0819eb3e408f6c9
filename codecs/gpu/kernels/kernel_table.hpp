// SPDX-License-Identifier: BSD-3-Clause
// All kernels, as plain C++. The same sources are compiled for accelerators (kernels.cu), where the
// kernel with a row's name takes a KernelArguments by value.
#pragma once

#include <span>

#include "codecs/gpu/kernel_arguments.hpp"

namespace mcr::codecs::gpu {

struct Kernel {
  const char* name;
  /// Runs one block of `blocks`: all its threads, from barrier to barrier.
  void (*run_block)(unsigned block, unsigned blocks, const KernelArguments& arguments);
};

/// By KernelNumber.
std::span<const Kernel> kernel_table();

}  // namespace mcr::codecs::gpu
