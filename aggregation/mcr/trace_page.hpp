// SPDX-License-Identifier: BSD-3-Clause
// Parses the text of a drain's trace, and draws traces as one self-contained HTML page.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "aggregation/pipeline/trace.hpp"
#include "codecs/base/result.hpp"

namespace mcr::aggregation {

struct Trace {
  std::string container;
  std::uint64_t parts = 0, variables = 0, raw_bytes = 0, container_bytes = 0, blocks = 0;
  std::uint64_t encoded_bytes = 0, card_bytes = 0;
  unsigned threads = 1, blocks_allowed = 0;
  std::vector<std::pair<std::string, double>> phases;  ///< in order, seconds
  double bin_seconds = 0;
  std::vector<DrainTrace::Bin> bins;
  std::vector<std::string> block_variables;
  std::vector<BlockTimes> first_blocks;  ///< dataset: number in block_variables

  [[nodiscard]] double phase(const std::string& name) const;
  [[nodiscard]] double all_phases() const;
  /// Returns the share of the frames' raw bytes that a GPU encoded, in percent.
  [[nodiscard]] double card_percent() const;
  /// Returns the average number of blocks in a state during the drain.
  [[nodiscard]] double occupancy(BlockState state) const;
};

/// Cause::damaged: `text` is not a trace. Cause::unsupported: the trace has a newer version.
Result<Trace> read_trace(const std::string& text);

/// Returns a whole page for some drains.
std::string trace_page(const std::vector<Trace>& traces);

}  // namespace mcr::aggregation
