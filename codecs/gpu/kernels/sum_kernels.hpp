// SPDX-License-Identifier: BSD-3-Clause
// Running sums of words, modulo 2^bits: sums of tiles, sums of those, then the words of each tile.
#pragma once

#include "codecs/gpu/kernels/rest_kernels.hpp"
#include "codecs/gpu/kernels/word_kernels.hpp"

namespace mcr::codecs::gpu {

inline constexpr std::uint64_t words_of_share = 8;  ///< of a thread
inline constexpr std::uint64_t words_of_tile = words_of_share * k_block_threads;

/// Calls `call(thread, words' begin, end)` in a step, with each thread's share of the block's tile.
template <typename Call>
MCR_DEVICE void each_share(const Block& block, std::uint64_t count, const Call& call) {
  block.each([&](unsigned thread) {
    const std::uint64_t begin = block.number * words_of_tile + thread * words_of_share;
    call(thread, least(begin, count), least(begin + words_of_share, count));
  });
}

/// 0: words; 1: their count; 2: bytes of a word; 3: for each tile, the sum of its words as 64 bits, to
/// write; 4: not zero to unzigzag words first. One block for each tile.
MCR_DEVICE void run_tile_sums(const Block& block, SumMemory<std::uint64_t>& memory,
                              const KernelArguments& a) {
  PerThread<std::uint64_t> sums;
  for_word(a.words[2], [&]<typename Word>(Word) {
    const auto* const words = pointer<const Word>(a, 0);
    each_share(block, a.words[1], [&](unsigned thread, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = begin; i < end; ++i) {
        sum += a.words[4] != 0 ? unzigzag(words[i]) : words[i];
      }
      sums[thread] = sum;
    });
  });
  const std::uint64_t total = sum_before(block, memory, sums);
  block.each([&](unsigned thread) {
    if (thread == 0) pointer<std::uint64_t>(a, 3)[block.number] = total;
  });
}

/// 0: numbers of 64 bits, each replaced by the sum of those before it; 1: their count. One block.
MCR_DEVICE void run_tile_offsets(const Block& block, SumMemory<std::uint64_t>& memory,
                                 const KernelArguments& a) {
  auto* const numbers = pointer<std::uint64_t>(a, 0);
  std::uint64_t before = 0;
  for (std::uint64_t first = 0; first < a.words[1]; first += k_block_threads) {
    PerThread<std::uint64_t> values;
    block.each([&](unsigned thread) {
      values[thread] = first + thread < a.words[1] ? numbers[first + thread] : 0;
    });
    const std::uint64_t sum = sum_before(block, memory, values);
    block.each([&](unsigned thread) {
      if (first + thread < a.words[1]) numbers[first + thread] = before + values[thread];
    });
    before += sum;
  }
}

/// 0 to 2 and 4: as run_tile_sums(); 3: the sums of all tiles before each; 5: for each word, the sum of
/// the words up to it, to write elsewhere.
MCR_DEVICE void run_tile_scan(const Block& block, SumMemory<std::uint64_t>& memory,
                              const KernelArguments& a) {
  for_word(a.words[2], [&]<typename Word>(Word) {
    const auto* const words = pointer<const Word>(a, 0);
    auto* const to = pointer<Word>(a, 5);
    const auto word_at = [&](std::uint64_t i) {
      return a.words[4] != 0 ? unzigzag(words[i]) : words[i];
    };
    PerThread<std::uint64_t> sums;
    each_share(block, a.words[1], [&](unsigned thread, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = begin; i < end; ++i) sum += word_at(i);
      sums[thread] = sum;
    });
    sum_before(block, memory, sums);
    const std::uint64_t before = pointer<const std::uint64_t>(a, 3)[block.number];
    each_share(block, a.words[1], [&](unsigned thread, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t sum = before + sums[thread];
      for (std::uint64_t i = begin; i < end; ++i) {
        sum += word_at(i);
        to[i] = static_cast<Word>(sum);
      }
    });
  });
}

}  // namespace mcr::codecs::gpu

MCR_KERNEL(mcr_tile_sums, run_tile_sums, mcr::codecs::gpu::SumMemory<std::uint64_t>)
MCR_KERNEL(mcr_tile_offsets, run_tile_offsets, mcr::codecs::gpu::SumMemory<std::uint64_t>)
MCR_KERNEL(mcr_tile_scan, run_tile_scan, mcr::codecs::gpu::SumMemory<std::uint64_t>)
