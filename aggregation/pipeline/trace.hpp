// SPDX-License-Identifier: BSD-3-Clause
// What a drain's stages did when: for `mcr trace`. Time is cut into a fixed number of bins, which
// grow as the drain goes on, so that a trace is as small for a terabyte as for a megabyte and
// nothing is left out; the first blocks are kept one by one beside it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mcr::aggregation {

/// Where a block is at a time: worked on by a stage, or in the queue before one.
enum class BlockState : std::uint8_t {
  fetch,
  encode_queue,
  encode,
  verify,
  write_queue,
  write,
};
inline constexpr std::size_t block_state_count = 6;
/// "fetch", "encode_queue", …: as they stand in trace files.
const char* block_state_name(BlockState state);

/// One block's way, in seconds since the drain began; `begins[s]` is when state s begins, and the
/// last entry when the block was free again.
struct BlockTimes {
  std::uint32_t dataset = 0;
  std::uint32_t frame = 0;
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t thread = 0;  ///< that encoded it
  std::array<double, block_state_count + 1> begins{};
};

class DrainTrace {
 public:
  static constexpr std::size_t bin_count = 256;
  static constexpr std::size_t first_block_count = 256;
  using Bin = std::array<double, block_state_count>;  ///< seconds that blocks spent, by state

  /// By one thread at a time.
  void add(const BlockTimes& block);

  [[nodiscard]] double bin_seconds() const { return bin_seconds_; }
  [[nodiscard]] const std::vector<Bin>& bins() const { return bins_; }
  [[nodiscard]] const std::vector<BlockTimes>& first_blocks() const { return first_blocks_; }
  [[nodiscard]] std::uint64_t block_count() const { return block_count_; }
  /// Seconds that all blocks together spent in a state; over the drain's wall time, how many were
  /// in it on average.
  [[nodiscard]] double seconds(BlockState state) const {
    return totals_[static_cast<std::size_t>(state)];
  }

 private:
  void spread(std::size_t state, double begin, double end);
  void double_bins();

  double bin_seconds_ = 0.001;
  std::vector<Bin> bins_;
  std::vector<BlockTimes> first_blocks_;
  std::uint64_t block_count_ = 0;
  Bin totals_{};
};

}  // namespace mcr::aggregation
