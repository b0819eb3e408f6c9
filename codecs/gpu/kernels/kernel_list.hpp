// SPDX-License-Identifier: BSD-3-Clause
// The names of all kernels.
#pragma once

#include "codecs/gpu/kernel_arguments.hpp"

// Applies ROW to each kernel's name, without its prefix mcr_, in the order of their numbers.
#define MCR_EACH_KERNEL(ROW) \
  ROW(words)                 \
  ROW(split)                 \
  ROW(transpose)             \
  ROW(lorenzo)               \
  ROW(lorenzo_order)         \
  ROW(class_pack)            \
  ROW(key_counts)            \
  ROW(top_bits_map)          \
  ROW(top_bits_pack)         \
  ROW(histogram)             \
  ROW(huffman_pack)          \
  ROW(tans_pack)             \
  ROW(sums)                  \
  ROW(gather)                \
  ROW(group_count)           \
  ROW(group_scatter)         \
  ROW(tile_sums)             \
  ROW(tile_offsets)          \
  ROW(tile_scan)             \
  ROW(row_sums)              \
  ROW(box_sums)              \
  ROW(to_floats)             \
  ROW(lorenzo_waves)         \
  ROW(huffman_unpack)        \
  ROW(tans_unpack)           \
  ROW(rest_unpack)           \
  ROW(fill)                  \
  ROW(copy)                  \
  ROW(distinct_words)        \
  ROW(list_words)            \
  ROW(word_numbers)          \
  ROW(numbered_words)

namespace mcr::codecs::gpu::kernel {

enum : KernelNumber {
#define MCR_ROW(name) name,
  MCR_EACH_KERNEL(MCR_ROW)
#undef MCR_ROW
};

}  // namespace mcr::codecs::gpu::kernel
