// SPDX-License-Identifier: BSD-3-Clause
// Records when each step of a drain was busy, for `mcr trace`. Time is divided into a fixed number
// of bins, whose length grows with the drain, so that a trace has the same size for a megabyte and
// a terabyte. In addition, the first blocks are recorded one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mcr::aggregation {

/// The state of a block: in a step of the pipeline, or in the queue before a step. `fetch`
/// includes the sum step and the wait for it. `write` is the store; the place step, which calls HDF5, counts as
/// `write_queue`.
enum class BlockState : std::uint8_t {
  fetch,
  encode_queue,
  encode,
  verify,
  write_queue,
  write,
};
inline constexpr std::size_t block_state_count = 6;
/// Returns "fetch", "encode_queue", …, as in trace files.
const char* block_state_name(BlockState state);

/// The times of one block, in seconds since the drain began. `begins[s]` is when state s begins;
/// the last entry is when the block was free again.
struct BlockTimes {
  std::uint32_t dataset = 0;
  std::uint32_t frame = 0;
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t thread = 0;  ///< the thread that encoded it
  std::array<double, block_state_count + 1> begins{};
};

class DrainTrace {
 public:
  static constexpr std::size_t bin_count = 256;
  static constexpr std::size_t first_block_count = 256;
  using Bin = std::array<double, block_state_count>;  ///< seconds that blocks spent, by state

  /// Called by one thread at a time.
  void add(const BlockTimes& block);

  [[nodiscard]] double bin_seconds() const { return bin_seconds_; }
  [[nodiscard]] const std::vector<Bin>& bins() const { return bins_; }
  [[nodiscard]] const std::vector<BlockTimes>& first_blocks() const { return first_blocks_; }
  [[nodiscard]] std::uint64_t block_count() const { return block_count_; }
  /// Returns the seconds that all blocks together spent in a state. Divided by the drain's wall
  /// time, that is the average number of blocks in the state.
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
