// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/trace.hpp"

#include <algorithm>

namespace mcr::aggregation {

const char* block_state_name(BlockState state) {
  constexpr std::array<const char*, block_state_count> names{"fetch",  "encode_queue", "encode",
                                                             "verify", "write_queue",  "write"};
  return names[static_cast<std::size_t>(state)];
}

void DrainTrace::add(const BlockTimes& block) {
  ++block_count_;
  if (first_blocks_.size() < first_block_count) first_blocks_.push_back(block);
  for (std::size_t state = 0; state < block_state_count; ++state) {
    spread(state, block.begins[state], block.begins[state + 1]);
  }
}

void DrainTrace::spread(std::size_t state, double begin, double end) {
  begin = std::max(begin, 0.0);
  if (end <= begin) return;
  totals_[state] += end - begin;
  while (end > bin_seconds_ * static_cast<double>(bin_count)) double_bins();
  auto bin = static_cast<std::size_t>(begin / bin_seconds_);
  for (; bin < bin_count && begin < end; ++bin) {
    if (bins_.size() <= bin) bins_.resize(bin + 1);
    const double until = std::min(end, bin_seconds_ * static_cast<double>(bin + 1));
    bins_[bin][state] += std::max(until - begin, 0.0);
    begin = std::max(until, begin);
  }
}

/// Doubles the length of the bins: joins each two neighbours.
void DrainTrace::double_bins() {
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const Bin bin = bins_[i];
    if (i % 2 == 0) {
      bins_[i / 2] = bin;
    } else {
      for (std::size_t state = 0; state < block_state_count; ++state) {
        bins_[i / 2][state] += bin[state];
      }
    }
  }
  bins_.resize((bins_.size() + 1) / 2);
  bin_seconds_ *= 2;
}

}  // namespace mcr::aggregation
