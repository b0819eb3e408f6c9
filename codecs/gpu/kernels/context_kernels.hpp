// SPDX-License-Identifier: BSD-3-Clause
// Groups symbols by their neighbours (codecs/class_coder/symbol_contexts.hpp), in the order of the
// symbols: counts the groups in tiles of symbols; after the sums of these, each tile writes its
// symbols.
#pragma once

#include "codecs/gpu/kernels/rest_kernels.hpp"

namespace mcr::codecs::gpu {

/// Like SymbolRows, but `columns` is never 0: symbols without rows form one row.
struct ContextBrick {
  std::uint64_t begin;
  std::uint64_t columns;
};

inline constexpr std::uint64_t symbols_of_tile = 4096;
inline constexpr std::uint64_t tile_share = symbols_of_tile / k_block_threads;  ///< of a thread
inline constexpr unsigned group_limit = 8;

/// Counts of eight groups, 16 bits each.
struct GroupCounts {
  std::uint64_t low;   ///< groups 0 to 3
  std::uint64_t high;  ///< groups 4 to 7
};
MCR_DEVICE std::uint32_t count_of(const GroupCounts& counts, unsigned group) {
  const std::uint64_t half = group < 4 ? counts.low : counts.high;
  return static_cast<std::uint32_t>(half >> (group % 4 * 16) & 0xffff);
}
MCR_DEVICE void count_one(GroupCounts& counts, unsigned group) {
  (group < 4 ? counts.low : counts.high) += std::uint64_t{1} << (group % 4 * 16);
}

struct ContextShared {
  std::uint8_t group[256];
  SumMemory<std::uint64_t> memory;
};

/// Counts the groups of a tile. `visit(index, group, before)` is called for each symbol, in each thread's
/// order, with the counts of the symbols before it in the tile. Returns the tile's counts.
template <typename Visit>
MCR_DEVICE GroupCounts visit_tile(const Block& block, ContextShared& shared,
                                  const KernelArguments& a, const Visit& visit) {
  const auto* const symbols = pointer<const std::uint8_t>(a, 0);
  const auto* const groups = pointer<const std::uint8_t>(a, 2);
  const auto* const bricks = pointer<const ContextBrick>(a, 3);
  const std::uint64_t first = block.number * symbols_of_tile;
  const std::uint64_t end = least(a.words[1], first + symbols_of_tile);
  const auto group_at = [&](std::uint64_t index) {
    const ContextBrick& brick = brick_of(bricks, a.words[4], index);
    const unsigned before = index == 0 ? 0 : symbols[index - 1];
    const unsigned above =
        index - brick.begin < brick.columns ? before : symbols[index - brick.columns];
    return static_cast<unsigned>(shared.group[(before + above) / 2]);
  };
  PerThread<std::uint64_t> low;
  PerThread<std::uint64_t> high;
  block.each([&](unsigned thread) { shared.group[thread] = groups[thread]; });
  block.each([&](unsigned thread) {
    GroupCounts counts{0, 0};
    const std::uint64_t begin = first + thread * tile_share;
    for (std::uint64_t i = begin; i < least(end, begin + tile_share); ++i) {
      count_one(counts, group_at(i));
    }
    low[thread] = counts.low;
    high[thread] = counts.high;
  });
  const std::uint64_t low_sum = sum_before(block, shared.memory, low);
  const std::uint64_t high_sum = sum_before(block, shared.memory, high);
  block.each([&](unsigned thread) {
    GroupCounts counts{low[thread], high[thread]};
    const std::uint64_t begin = first + thread * tile_share;
    for (std::uint64_t i = begin; i < least(end, begin + tile_share); ++i) {
      const unsigned group = group_at(i);
      visit(i, group, count_of(counts, group));
      count_one(counts, group);
    }
  });
  return {low_sum, high_sum};
}

/// 0: symbols; 1: their count; 2: the group of each of 256 contexts; 3: ContextBricks, none of them empty;
/// 4: their count; 5: to write, for group 0 the count of each tile, then for group 1, and so on; 6: the
/// number of tiles. One block for each tile.
MCR_DEVICE void run_group_count(const Block& block, ContextShared& shared,
                                const KernelArguments& a) {
  const GroupCounts counts =
      visit_tile(block, shared, a, [](std::uint64_t, unsigned, std::uint32_t) {});
  auto* const to = pointer<std::uint32_t>(a, 5);
  block.each([&](unsigned thread) {
    if (thread < group_limit) to[thread * a.words[6] + block.number] = count_of(counts, thread);
  });
}

/// 0 to 4 and 6: as run_group_count(); 5: the sums of its counts; 7: the grouped symbols to write.
MCR_DEVICE void run_group_scatter(const Block& block, ContextShared& shared,
                                  const KernelArguments& a) {
  const auto* const symbols = pointer<const std::uint8_t>(a, 0);
  const auto* const places = pointer<const std::uint32_t>(a, 5);
  auto* const to = pointer<std::uint8_t>(a, 7);
  visit_tile(block, shared, a, [&](std::uint64_t index, unsigned group, std::uint32_t before) {
    to[places[group * a.words[6] + block.number] + before] = symbols[index];
  });
}

}  // namespace mcr::codecs::gpu

MCR_KERNEL(mcr_group_count, run_group_count, mcr::codecs::gpu::ContextShared)
MCR_KERNEL(mcr_group_scatter, run_group_scatter, mcr::codecs::gpu::ContextShared)
