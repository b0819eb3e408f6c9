// SPDX-License-Identifier: BSD-3-Clause
// Each turn decodes four streams with five table steps each between refills: 5 x 11 bits fit into
// the at least 57 bits of a refill. The number of turns is computed beforehand from the bytes that
// may be read and written, so that the loop has no checks. The last few symbols are decoded one by
// one.
#include <algorithm>

#include "codecs/base/cpu.hpp"
#include "codecs/entropy/huffman.hpp"

namespace mcr::codecs::entropy {
namespace {

constexpr unsigned steps = 5;
constexpr unsigned mask = (1U << huffman_bits) - 1;
constexpr std::ptrdiff_t turn_bytes = 7;  ///< the most bytes by which a stream moves on in a turn

/// Returns for how many turns every stream can load 8 bytes below `readable_end`.
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

/// One symbol in the entry's low byte, its code's length above.
struct Single {
  MCR_INLINE_LOOP static unsigned put(std::uint32_t entry, unsigned step, std::uint8_t*& out) {
    out[step] = static_cast<std::uint8_t>(entry);
    return entry >> 8;
  }
  MCR_INLINE_LOOP static void end_turn(std::uint8_t*& out) { out += steps; }
};
/// One or two symbols. Both bytes are always written; if there is only one symbol, the next one
/// overwrites the second byte.
struct Pair {
  MCR_INLINE_LOOP static unsigned put(std::uint32_t entry, unsigned, std::uint8_t*& out) {
    out[0] = static_cast<std::uint8_t>(entry);
    out[1] = static_cast<std::uint8_t>(entry >> 8);
    out += entry >> 24;
    return entry >> 16 & 0xff;
  }
  MCR_INLINE_LOOP static void end_turn(std::uint8_t*&) {}
};

template <typename Kind, typename Entry>
MCR_INLINE_LOOP void run_turns(const Entry* table, std::size_t turns,
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
        const unsigned width = Kind::put(table[bits[k] & mask], step, out[k]);
        bits[k] >>= width;
        used[k] += width;
      }
    }
    for (std::size_t k = 0; k < stream_count; ++k) {
      Kind::end_turn(out[k]);
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

}  // namespace

bool HuffmanDecoder::prepare(const CodeLengths& lengths, bool pairs) {
  std::uint32_t kraft = 0;
  for (const std::uint16_t length : lengths.length) {
    if (length > huffman_bits) return false;
    if (length != 0) kraft += 1U << (huffman_bits - length);
  }
  if (kraft != 1U << huffman_bits) return false;
  // Codes are assigned by ascending length, so that code c of length l stands at c << (11 - l) in a
  // table that is ordered by the codes' bits. A stream holds these bits reversed.
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
  // With pairs, a turn writes 5 to 10 symbols to each stream, so that the remainder at least
  // halves.
  const std::ptrdiff_t most = pairs_ ? 2 * steps : steps;
  for (;;) {
    std::ptrdiff_t left = outputs[0].end - outputs[0].at;
    for (const Output& output : outputs) left = std::min(left, output.end - output.at);
    const std::size_t turns =
        std::min(static_cast<std::size_t>(left / most), readable_turns(streams, readable_end));
    if (turns == 0) break;
    cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      pairs_ ? run_turns<Pair>(pair_, turns, streams, outputs)
             : run_turns<Single>(single_, turns, streams, outputs);
    });
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
