// SPDX-License-Identifier: BSD-3-Clause
// Encodes from the last symbol to the first and writes from high addresses to low, so that the
// decoder runs forwards. Four streams advance together, because each is one long chain of table
// look-ups.
#include <algorithm>
#include <bit>
#include <cstring>

#include "codecs/base/cpu.hpp"
#include "codecs/entropy/spread_states.hpp"
#include "codecs/entropy/tans.hpp"

namespace mcr::codecs::entropy {
namespace {

/// Adds bits in front of the bits that were added before.
struct BackwardBits {
  std::uint64_t bits = 0;  ///< newest lowest
  unsigned held = 0;
  std::uint8_t* at = nullptr;

  void flush() {
    const unsigned whole = held >> 3;
    const std::uint64_t oldest = bits >> (held & 7);
    store(at - 8, little_endian((oldest << 1) << (63 - 8 * whole)));
    at -= whole;
    held &= 7;
    bits &= (1U << held) - 1;
  }
};

MCR_INLINE_LOOP void put(const TansEncoder::Symbol* table, const std::uint16_t* next,
                         std::uint8_t symbol, std::uint32_t& state, BackwardBits& out) {
  const TansEncoder::Symbol entry = table[symbol];
  const unsigned width = (state + entry.bits) >> 16;
  out.bits = out.bits << width | (state & ((1U << width) - 1));
  out.held += width;
  state = next[static_cast<std::int32_t>(state >> width) + entry.start];
}

MCR_INLINE_LOOP void encode_streams(const TansEncoder::Symbol* table, const std::uint16_t* next,
                                    const std::uint8_t* const (&first)[stream_count],
                                    const std::size_t (&count)[stream_count],
                                    std::uint32_t (&state)[stream_count],
                                    BackwardBits (&out)[stream_count]) {
  // The lengths of streams differ by at most one; the last symbol of longer streams is coded alone.
  const std::size_t least = *std::min_element(std::begin(count), std::end(count));
  std::size_t left = least;
  for (std::size_t k = 0; k < stream_count; ++k) {
    if (count[k] > least) put(table, next, first[k][least], state[k], out[k]);
  }
  for (; left % 3 != 0; --left) {
    for (std::size_t k = 0; k < stream_count; ++k) {
      put(table, next, first[k][left - 1], state[k], out[k]);
    }
  }
  for (std::size_t k = 0; k < stream_count; ++k) out[k].flush();
  for (; left != 0; left -= 3) {
    for (std::size_t step = 1; step <= 3; ++step) {
      for (std::size_t k = 0; k < stream_count; ++k) {
        put(table, next, first[k][left - step], state[k], out[k]);
      }
    }
    for (std::size_t k = 0; k < stream_count; ++k) out[k].flush();
  }
}

}  // namespace

StateCounts tans_states(const Histogram& histogram) {
  std::uint64_t total = 0;
  for (const std::uint32_t count : histogram.count) total += count;
  StateCounts result;
  // A table larger than the block costs more than it saves.
  result.bits = std::clamp(static_cast<unsigned>(std::bit_width(total)) - 1, 8U, tans_bits);
  const std::uint32_t size = 1U << result.bits;
  std::uint32_t given = 0;
  for (unsigned s = 0; s < 256; ++s) {
    const std::uint64_t count = histogram.count[s];
    if (count == 0) continue;
    result.states[s] =
        static_cast<std::uint16_t>(std::max<std::uint64_t>(1, (count * size + total / 2) / total));
    given += result.states[s];
  }
  // Rounding leaves a few states too many or too few. Each is removed or added where it costs
  // least, which is where it changes the symbol's probability least.
  for (; given != size; given < size ? ++given : --given) {
    const bool add = given < size;
    unsigned best = 256;
    std::uint64_t best_cost = 0;
    for (unsigned s = 0; s < 256; ++s) {
      const std::uint64_t states = result.states[s];
      if (states == 0 || (!add && states == 1)) continue;
      // Gain of adding ~ count/(states + 1/2), loss of taking ~ count/(states - 1/2), in 1/1024.
      const std::uint64_t cost =
          std::uint64_t{histogram.count[s]} * 2048 / (add ? 2 * states + 1 : 2 * states - 1);
      if (best == 256 || (add ? cost > best_cost : cost < best_cost)) {
        best = s;
        best_cost = cost;
      }
    }
    result.states[best] = static_cast<std::uint16_t>(result.states[best] + (add ? 1 : -1));
  }
  return result;
}

TansEncoder::TansEncoder(const StateCounts& counts) : bits_(counts.bits) {
  const std::uint32_t size = 1U << bits_;
  std::uint8_t symbols[1U << tans_bits];
  spread_states(counts, symbols);
  std::uint32_t place[256];
  std::uint32_t before = 0;
  for (unsigned s = 0; s < 256; ++s) {
    const std::uint32_t states = counts.states[s];
    place[s] = before;
    if (states == 0) {
      symbol_[s] = {0, 0};
    } else if (states == 1) {
      symbol_[s] = {(bits_ << 16) - size, static_cast<std::int32_t>(before) - 1};
    } else {
      const unsigned most = bits_ + 1 - static_cast<unsigned>(std::bit_width(states - 1));
      symbol_[s] = {(most << 16) - (states << most),
                    static_cast<std::int32_t>(before) - static_cast<std::int32_t>(states)};
    }
    before += states;
  }
  for (std::uint32_t state = 0; state < size; ++state) {
    next_[place[symbols[state]]++] = static_cast<std::uint16_t>(size + state);
  }
}

std::size_t TansEncoder::encode_segment(Symbols symbols, std::uint8_t* directory,
                                        std::uint8_t* out) const {
  const std::uint8_t* first[stream_count];
  std::size_t count[stream_count];
  std::uint32_t state[stream_count];
  BackwardBits bits[stream_count];
  std::uint8_t* end[stream_count];
  std::size_t reserved = 0;
  for (std::size_t k = 0; k < stream_count; ++k) {
    const std::size_t start = stream_start(symbols.size(), k);
    first[k] = symbols.data() + start;
    count[k] = stream_start(symbols.size(), k + 1) - start;
    state[k] = 1U << bits_;
    reserved += (count[k] * tans_bits + 7) / 8 + 12;
    bits[k].at = end[k] = out + reserved;
  }
  cpu::run_widest(
      [&]() MCR_INLINE_LAMBDA { encode_streams(symbol_, next_, first, count, state, bits); });
  std::uint8_t* at = out;
  for (std::size_t k = 0; k < stream_count; ++k) {
    // The decoder's first state, then a one, then zeros down to the byte's start.
    BackwardBits& last = bits[k];
    last.bits = last.bits << bits_ | (state[k] - (1U << bits_));
    last.bits = last.bits << 1 | 1;
    last.held += bits_ + 1;
    const unsigned padding = (8 - (last.held & 7)) & 7;
    last.bits <<= padding;
    last.held += padding;
    last.flush();
    const auto length = static_cast<std::size_t>(end[k] - last.at);
    std::memmove(at, last.at, length);
    store(directory + 2 * k, little_endian(static_cast<std::uint16_t>(length)));
    at += length;
  }
  return static_cast<std::size_t>(at - out);
}

}  // namespace mcr::codecs::entropy
