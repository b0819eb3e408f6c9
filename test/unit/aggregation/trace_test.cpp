// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/trace.hpp"

#include <cmath>

#include "test/support/catch.hpp"

using namespace mcr::aggregation;

namespace {

/// Each state lasts `step` seconds, one after the other.
BlockTimes block_from(double begin, double step) {
  BlockTimes block;
  for (std::size_t i = 0; i < block.begins.size(); ++i) {
    block.begins[i] = begin + step * static_cast<double>(i);
  }
  return block;
}

bool is_near(double a, double b) {
  return std::abs(a - b) < 1e-6 * (std::abs(a) + std::abs(b)) + 1e-9;
}

double binned(const DrainTrace& trace, BlockState state) {
  double sum = 0;
  for (const DrainTrace::Bin& bin : trace.bins()) sum += bin[static_cast<std::size_t>(state)];
  return sum;
}

}  // namespace

TEST_CASE("a trace keeps every second of every state, however long the drain") {
  const double step = GENERATE(0.0001, 0.01, 3.0);
  DrainTrace trace;
  const int count = 1000;
  for (int i = 0; i < count; ++i) trace.add(block_from(i * step, step));
  CHECK(trace.block_count() == count);
  for (std::size_t s = 0; s < block_state_count; ++s) {
    const auto state = static_cast<BlockState>(s);
    CHECK(is_near(trace.seconds(state), count * step));
    CHECK(is_near(binned(trace, state), count * step));
  }
}

TEST_CASE("a trace stays small") {
  DrainTrace trace;
  for (int i = 0; i < 100'000; ++i) trace.add(block_from(i * 0.5, 0.1));
  CHECK(trace.bins().size() <= DrainTrace::bin_count);
  CHECK(trace.first_blocks().size() == DrainTrace::first_block_count);
  CHECK(trace.bin_seconds() * static_cast<double>(DrainTrace::bin_count) >= 50'000);
}

TEST_CASE("a bin holds what happened in it") {
  DrainTrace trace;
  BlockTimes block;  // fetched in the first half of the second millisecond, then nothing
  block.begins.fill(0.0015);
  block.begins.front() = 0.001;
  trace.add(block);
  REQUIRE(trace.bins().size() == 2);
  CHECK(is_near(trace.bins()[0][0], 0));
  CHECK(is_near(trace.bins()[1][0], 0.0005));
}
