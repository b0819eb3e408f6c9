// SPDX-License-Identifier: BSD-3-Clause
// Four streams a turn, five table steps each between refills: 5 x 11 bits fit the 57 that a refill
// gives at least. The number of turns is bounded beforehand by what may be read and written, so
// that the loop itself has no checks; the few symbols at the end go one by one.
#include <algorithm>

#include "codecs/base/cpu.hpp"
#include "codecs/entropy/huffman.hpp"

namespace mcr::codecs::entropy {
namespace {

constexpr unsigned steps = 5;
constexpr unsigned mask = (1U << huffman_bits) - 1;
constexpr std::ptrdiff_t turn_bytes = 7;  ///< a stream moves on by at most this in a turn

/// Turns for which every stream can load 8 bytes below `readable_end`.
std::size_t readable_turns(const BitStream (&streams)[stream_count],
                           const std::uint8_t* readable_end) {
  std::ptrdiff_t turns = std::ptrdiff_t{1} << 30;
  for (const BitStream& stream : streams) {
    const std::ptrdiff_t room = readable_end - stream.at - 8;
    turns = std::min(turns, room < 0 ? 0 : room / turn_bytes + 1);
  }
  return static_cast<std::size_t>(turns);
}

struct Output {
  std::uint8_t* at;
  std::uint8_t* end;
};

MCR_INLINE_LOOP void single_turns(const std::uint16_t* table, std::size_t turns,
                                  BitStream (&streams)[stream_count],
                                  Output (&outputs)[stream_count]) {
  const std::uint8_t* in[stream_count];
  std::uint8_t* out[stream_count];
  unsigned used[stream_count];
  for (std::size_t k = 0; k < stream_count; ++k) {
    in[k] = streams[k].at;
    used[k] = streams[k].used;
    out[k] = outputs[k].at;
  }
  for (; turns != 0; --turns) {
    std::uint64_t bits[stream_count];
    for (std::size_t k = 0; k < stream_count; ++k) {
      bits[k] = little_endian(load<std::uint64_t>(in[k])) >> used[k];
    }
    for (unsigned step = 0; step < steps; ++step) {
      for (std::size_t k = 0; k < stream_count; ++k) {
        const std::uint32_t entry = table[bits[k] & mask];
        out[k][step] = static_cast<std::uint8_t>(entry);
        bits[k] >>= entry >> 8;
        used[k] += entry >> 8;
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
    outputs[k].at = out[k];
  }
}

MCR_INLINE_LOOP void pair_turns(const std::uint32_t* table, std::size_t turns,
                                BitStream (&streams)[stream_count],
                                Output (&outputs)[stream_count]) {
  const std::uint8_t* in[stream_count];
  std::uint8_t* out[stream_count];
  unsigned used[stream_count];
  for (std::size_t k = 0; k < stream_count; ++k) {
    in[k] = streams[k].at;
    used[k] = streams[k].used;
    out[k] = outputs[k].at;
  }
  for (; turns != 0; --turns) {
    std::uint64_t bits[stream_count];
    for (std::size_t k = 0; k < stream_count; ++k) {
      bits[k] = little_endian(load<std::uint64_t>(in[k])) >> used[k];
    }
    for (unsigned step = 0; step < steps; ++step) {
      for (std::size_t k = 0; k < stream_count; ++k) {
        const std::uint32_t entry = table[bits[k] & mask];
        out[k][0] = static_cast<std::uint8_t>(entry);
        out[k][1] = static_cast<std::uint8_t>(entry >> 8);
        out[k] += entry >> 24;
        bits[k] >>= entry >> 16 & 0xff;
        used[k] += entry >> 16 & 0xff;
      }
    }
    for (std::size_t k = 0; k < stream_count; ++k) {
      in[k] += used[k] >> 3;
      used[k] &= 7;
    }
  }
  for (std::size_t k = 0; k < stream_count; ++k) {
    streams[k].at = in[k];
    streams[k].used = used[k];
    outputs[k].at = out[k];
  }
}

void single_portable(const std::uint16_t* table, std::size_t turns,
                     BitStream (&streams)[stream_count], Output (&outputs)[stream_count]) {
  single_turns(table, turns, streams, outputs);
}
void pair_portable(const std::uint32_t* table, std::size_t turns,
                   BitStream (&streams)[stream_count], Output (&outputs)[stream_count]) {
  pair_turns(table, turns, streams, outputs);
}
#if MCR_HAVE_AVX2
MCR_AVX2_TARGET void single_avx2(const std::uint16_t* table, std::size_t turns,
                                 BitStream (&streams)[stream_count],
                                 Output (&outputs)[stream_count]) {
  single_turns(table, turns, streams, outputs);
}
MCR_AVX2_TARGET void pair_avx2(const std::uint32_t* table, std::size_t turns,
                               BitStream (&streams)[stream_count],
                               Output (&outputs)[stream_count]) {
  pair_turns(table, turns, streams, outputs);
}
#endif

}  // namespace

bool HuffmanDecoder::prepare(const CodeLengths& lengths, bool pairs) {
  std::uint32_t kraft = 0;
  for (const std::uint16_t length : lengths.length) {
    if (length > huffman_bits) return false;
    if (length != 0) kraft += 1U << (huffman_bits - length);
  }
  if (kraft != 1U << huffman_bits) return false;
  // Codes are assigned by rising length, so that code c of length l stands at c << (11 - l) of a
  // table that is ordered by the bits as they were made; a stream holds them reversed.
  std::uint32_t next = 0;
  for (unsigned length = 1; length <= huffman_bits; ++length) {
    for (unsigned s = 0; s < 256; ++s) {
      if (lengths.length[s] != length) continue;
      std::uint32_t reversed = 0;
      for (unsigned i = 0; i < huffman_bits; ++i)
        reversed |= (next >> i & 1U) << (huffman_bits - 1 - i);
      for (std::uint32_t at = reversed; at <= mask; at += 1U << length) {
        single_[at] = static_cast<std::uint16_t>(s | length << 8);
      }
      next += 1U << (huffman_bits - length);
    }
  }
  pairs_ = pairs;
  if (pairs) {
    for (std::uint32_t at = 0; at <= mask; ++at) {
      const std::uint32_t first = single_[at];
      const std::uint32_t second = single_[at >> (first >> 8)];
      const std::uint32_t both = (first >> 8) + (second >> 8);
      pair_[at] = both <= huffman_bits
                      ? (first & 0xff) | (second & 0xff) << 8 | both << 16 | 2U << 24
                      : (first & 0xff) | (first >> 8) << 16 | 1U << 24;
    }
  }
  return true;
}

bool HuffmanDecoder::decode_segment(const BitStream (&from)[stream_count],
                                    const std::uint8_t* readable_end,
                                    MutableSymbols symbols) const {
  BitStream streams[stream_count];
  Output outputs[stream_count];
  for (std::size_t k = 0; k < stream_count; ++k) {
    streams[k] = from[k];
    outputs[k] = {symbols.data() + stream_start(symbols.size(), k),
                  symbols.data() + stream_start(symbols.size(), k + 1)};
  }
  // With pairs, a turn writes 5 to 10 symbols to each stream: what is left shrinks at least by
  // half.
  const std::ptrdiff_t most = pairs_ ? 2 * steps : steps;
  for (;;) {
    std::ptrdiff_t left = outputs[0].end - outputs[0].at;
    for (const Output& output : outputs) left = std::min(left, output.end - output.at);
    const std::size_t turns =
        std::min(static_cast<std::size_t>(left / most), readable_turns(streams, readable_end));
    if (turns == 0) break;
#if MCR_HAVE_AVX2
    if (cpu::has_avx2()) {
      pairs_ ? pair_avx2(pair_, turns, streams, outputs)
             : single_avx2(single_, turns, streams, outputs);
      continue;
    }
#endif
    pairs_ ? pair_portable(pair_, turns, streams, outputs)
           : single_portable(single_, turns, streams, outputs);
  }
  bool whole = true;
  for (std::size_t k = 0; k < stream_count; ++k) {
    BitStream& stream = streams[k];
    for (; outputs[k].at != outputs[k].end; ++outputs[k].at) {
      if (stream.at > readable_end) return false;
      const std::uint64_t bits = load_bits(stream.at, readable_end) >> stream.used;
      const std::uint32_t entry = single_[bits & mask];
      *outputs[k].at = static_cast<std::uint8_t>(entry);
      stream.consume(entry >> 8);
    }
    whole = whole && stream.ended();
  }
  return whole;
}

}  // namespace mcr::codecs::entropy
