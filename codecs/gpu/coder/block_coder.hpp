// SPDX-License-Identifier: BSD-3-Clause
// The entropy blocks of a frame (codecs/entropy), coded together. The accelerator counts and codes;
// the host makes the codes from the counts, as it does for its own blocks.
#pragma once

#include "codecs/entropy/block_plan.hpp"
#include "codecs/gpu/coder/parts.hpp"

namespace mcr::codecs::gpu {

class BlockCoder {
 public:
  explicit BlockCoder(Device& device) : device_(device) {}

  /// Adds `count` symbols, which get the next number.
  void add(DeviceAddress symbols, std::size_t count) { blocks_.emplace_back(symbols, count); }

  /// Counts the symbols of all blocks; histogram() is known at the next finish().
  Result<void> count();
  [[nodiscard]] const entropy::Histogram& histogram(std::size_t block) const {
    return histograms_[block];
  }

  /// Plans a block. Blocks that were not planned are not coded.
  void plan(std::size_t block, entropy::Method method);

  /// Codes the planned blocks. Finishes the queue's work.
  Result<void> code();

  [[nodiscard]] std::size_t bytes(std::size_t block) const;
  void append(std::size_t block, Bytes& out) const;

 private:
  struct BlockState {
    BlockState(DeviceAddress at, std::size_t symbols_there) : symbols(at), count(symbols_there) {}

    DeviceAddress symbols;
    std::size_t count;
    bool is_planned = false;
    entropy::BlockPlan plan;
    std::size_t first_part = 0;
    Bytes raw;  ///< the symbols, if they are stored unchanged
  };

  Result<void> launch_packing();
  Result<void> fetch_symbols(BlockState& block);

  Device& device_;
  std::vector<BlockState> blocks_;
  std::vector<entropy::Histogram> histograms_;
  PartList streams_;
};

}  // namespace mcr::codecs::gpu
