// SPDX-License-Identifier: BSD-3-Clause
// Each turn decodes four streams with four symbols each between refills: 4 x 12 bits fit into the
// 57 bits of a refill.
#include <algorithm>
#include <bit>

#include "codecs/base/cpu.hpp"
#include "codecs/entropy/spread_states.hpp"
#include "codecs/entropy/tans.hpp"

namespace mcr::codecs::entropy {
namespace {

constexpr unsigned steps = 4;

MCR_INLINE_LOOP void run_turns(const std::uint32_t* table, std::size_t turns,
                               BitStream (&streams)[stream_count],
                               std::uint32_t (&states)[stream_count],
                               std::uint8_t* (&outputs)[stream_count]) {
  const std::uint8_t* in[stream_count];
  std::uint8_t* out[stream_count];
  unsigned used[stream_count];
  std::uint32_t state[stream_count];
  for (std::size_t k = 0; k < stream_count; ++k) {
    in[k] = streams[k].at;
    used[k] = streams[k].used;
    out[k] = outputs[k];
    state[k] = states[k];
  }
  for (; turns != 0; --turns) {
    std::uint64_t bits[stream_count];
    for (std::size_t k = 0; k < stream_count; ++k) {
      bits[k] = little_endian(load<std::uint64_t>(in[k])) >> used[k];
    }
    for (unsigned step = 0; step < steps; ++step) {
      for (std::size_t k = 0; k < stream_count; ++k) {
        const std::uint32_t entry = table[state[k]];
        const unsigned width = entry >> 8 & 0xff;
        out[k][step] = static_cast<std::uint8_t>(entry);
        state[k] = (entry >> 16) + static_cast<std::uint32_t>(bits[k] & ((1ULL << width) - 1));
        bits[k] >>= width;
        used[k] += width;
      }
    }
    for (std::size_t k = 0; k < stream_count; ++k) {
      out[k] += steps;
      in[k] += used[k] >> 3;
      used[k] &= 7;
    }
  }
  for (std::size_t k = 0; k < stream_count; ++k) {
    streams[k].at = in[k];
    streams[k].used = used[k];
    outputs[k] = out[k];
    states[k] = state[k];
  }
}

}  // namespace

bool TansDecoder::prepare(const StateCounts& counts) {
  if (counts.bits < 8 || counts.bits > tans_bits) return false;
  std::uint32_t total = 0;
  for (const std::uint16_t states : counts.states) total += states;
  if (total != 1U << counts.bits) return false;
  bits_ = counts.bits;
  std::uint8_t symbols[1U << tans_bits];
  spread_states(counts, symbols);
  std::uint32_t next[256];
  for (unsigned s = 0; s < 256; ++s) next[s] = counts.states[s];
  for (std::uint32_t state = 0; state < total; ++state) {
    const std::uint32_t before = next[symbols[state]]++;
    const unsigned width = bits_ + 1 - static_cast<unsigned>(std::bit_width(before));
    state_[state] = symbols[state] | width << 8 | ((before << width) - total) << 16;
  }
  return true;
}

bool TansDecoder::decode_segment(const BitStream (&from)[stream_count],
                                 const std::uint8_t* readable_end, MutableSymbols symbols) const {
  BitStream streams[stream_count];
  std::uint32_t states[stream_count];
  std::uint8_t* outputs[stream_count];
  std::size_t left = symbols.size();
  std::ptrdiff_t room = std::ptrdiff_t{1} << 40;
  for (std::size_t k = 0; k < stream_count; ++k) {
    streams[k] = from[k];
    const std::uint64_t head = load_bits(streams[k].at, streams[k].end);
    if ((head & 0xff) == 0) return false;
    const auto marker = static_cast<unsigned>(std::countr_zero(head)) + 1;
    states[k] = static_cast<std::uint32_t>(head >> marker) & ((1U << bits_) - 1);
    streams[k].consume(marker + bits_);
    outputs[k] = symbols.data() + stream_start(symbols.size(), k);
    left = std::min(left, stream_start(symbols.size(), k + 1) - stream_start(symbols.size(), k));
    room = std::min(room, readable_end - streams[k].at);
  }
  std::size_t done = 0;
  for (;;) {
    // A stream advances by at most 6 bytes a turn (7 + 48 bits), and loads 8.
    std::ptrdiff_t turns = static_cast<std::ptrdiff_t>((left - done) / steps);
    for (const BitStream& stream : streams) {
      const std::ptrdiff_t ahead = readable_end - stream.at - 8;
      turns = std::min(turns, ahead < 0 ? 0 : ahead / 6 + 1);
    }
    if (turns == 0) break;
    const auto count = static_cast<std::size_t>(turns);
    cpu::run_widest([&]()
                        MCR_INLINE_LAMBDA { run_turns(state_, count, streams, states, outputs); });
    done += count * steps;
  }
  bool whole = true;
  for (std::size_t k = 0; k < stream_count; ++k) {
    std::uint8_t* const end = symbols.data() + stream_start(symbols.size(), k + 1);
    for (; outputs[k] != end; ++outputs[k]) {
      if (streams[k].at > readable_end) return false;
      const std::uint64_t bits = load_bits(streams[k].at, readable_end) >> streams[k].used;
      const std::uint32_t entry = state_[states[k]];
      const unsigned width = entry >> 8 & 0xff;
      *outputs[k] = static_cast<std::uint8_t>(entry);
      states[k] = (entry >> 16) + static_cast<std::uint32_t>(bits & ((1ULL << width) - 1));
      streams[k].consume(width);
    }
    whole = whole && streams[k].ended() && states[k] == 0;
  }
  return whole;
}

}  // namespace mcr::codecs::entropy
