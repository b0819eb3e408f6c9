// SPDX-License-Identifier: BSD-3-Clause
// The decoders of entropy blocks and of rest bits. The host has compared all sizes with the stored
// bytes; what the bits themselves say is checked here, and damage is reported by a number that is not
// zero. Whatever the bits are, reads and writes stay inside of the given ranges.
#pragma once

#include "codecs/gpu/kernels/entropy_kernels.hpp"

namespace mcr::codecs::gpu {

/// A segment of an entropy block to decode.
struct StoredSegment {
  std::uint64_t symbols;  ///< address to write
  std::uint64_t stored;   ///< address of the first stream
  std::uint32_t count;
  std::uint32_t length[entropy::stream_count];  ///< bytes of each stream
  std::uint32_t unused;
};

/// Bits of a stream, from its first byte on. Bits beyond the end are zeros.
class BitReader {
 public:
  MCR_DEVICE BitReader(const std::uint8_t* at, std::uint32_t bytes) : at_(at), left_(bytes) {}

  /// Returns at least 32 bits, of which the lowest is the next one.
  MCR_DEVICE std::uint64_t peek() {
    for (; have_ <= 56 && left_ != 0; --left_, have_ += 8) held_ |= std::uint64_t{*at_++} << have_;
    return held_;
  }
  /// Takes bits that peek() returned.
  MCR_DEVICE void take(unsigned width) {
    ran_out_ = ran_out_ || width > have_;
    have_ -= width < have_ ? width : have_;
    held_ >>= width;
  }
  /// True if exactly the stream's bytes were taken; unused bits of the last byte do not count.
  [[nodiscard]] MCR_DEVICE bool has_ended() const { return !ran_out_ && left_ == 0 && have_ < 8; }

 private:
  const std::uint8_t* at_;
  std::uint32_t left_;
  std::uint64_t held_ = 0;
  unsigned have_ = 0;
  bool ran_out_ = false;
};

/// A thread's stream, if it has one.
struct StoredStream {
  const StoredSegment* segment = nullptr;  ///< null: none
  unsigned number = 0;
};
MCR_DEVICE StoredStream stream_of(const TansGroup& group, const StoredSegment* segments,
                                  unsigned thread) {
  const unsigned number = thread / static_cast<unsigned>(entropy::stream_count);
  if (number >= group.segments) return {};
  return {segments + group.first_segment + number,
          thread % static_cast<unsigned>(entropy::stream_count)};
}
MCR_DEVICE BitReader reader_of(const StoredStream& stream) {
  std::uint64_t offset = 0;
  for (unsigned s = 0; s < stream.number; ++s) offset += stream.segment->length[s];
  return {reinterpret_cast<const std::uint8_t*>(stream.segment->stored + offset),
          stream.segment->length[stream.number]};
}

/// For each value of the next 11 bits, a symbol, and its code's length << 8.
struct HuffmanTable {
  std::uint16_t entry[1U << entropy::huffman_bits];
};

/// 0: StoredSegments; 1: HuffmanTables; 2: TansGroups, one for each block; 3: a number that becomes 1 if
/// the streams are damaged.
MCR_DEVICE void run_huffman_unpack(const Block& block, HuffmanTable& shared,
                                   const KernelArguments& a) {
  const TansGroup& group = pointer<const TansGroup>(a, 2)[block.number];
  const HuffmanTable& table = pointer<const HuffmanTable>(a, 1)[group.table];
  block.each([&](unsigned thread) {
    for (unsigned i = thread; i < 1U << entropy::huffman_bits; i += k_block_threads) {
      shared.entry[i] = table.entry[i];
    }
  });
  block.each([&](unsigned thread) {
    const StoredStream stream = stream_of(group, pointer<const StoredSegment>(a, 0), thread);
    if (stream.segment == nullptr) return;
    BitReader in = reader_of(stream);
    auto* const symbols = reinterpret_cast<std::uint8_t*>(stream.segment->symbols);
    const std::uint64_t end = entropy::stream_start(stream.segment->count, stream.number + 1);
    std::uint64_t i = entropy::stream_start(stream.segment->count, stream.number);
    for (; i < end; ++i) {
      const std::uint16_t entry = shared.entry[in.peek() & ((1U << entropy::huffman_bits) - 1)];
      symbols[i] = static_cast<std::uint8_t>(entry);
      in.take(entry >> 8);
    }
    if (!in.has_ended()) atomic_or(pointer<std::uint32_t>(a, 3), 1);
  });
}

/// For each state, its symbol, the bits to read << 8, and the next state's base << 16.
struct StateTable {
  std::uint32_t bits;
  std::uint32_t entry[1U << entropy::tans_bits];
};

/// As run_huffman_unpack(), with StateTables.
MCR_DEVICE void run_tans_unpack(const Block& block, StateTable& shared, const KernelArguments& a) {
  const TansGroup& group = pointer<const TansGroup>(a, 2)[block.number];
  const StateTable& table = pointer<const StateTable>(a, 1)[group.table];
  block.each([&](unsigned thread) {
    for (unsigned i = thread; i < 1U << table.bits; i += k_block_threads) {
      shared.entry[i] = table.entry[i];
    }
    if (thread == 0) shared.bits = table.bits;
  });
  block.each([&](unsigned thread) {
    const StoredStream stream = stream_of(group, pointer<const StoredSegment>(a, 0), thread);
    if (stream.segment == nullptr) return;
    BitReader in = reader_of(stream);
    // Zeros and a one come before the first state.
    unsigned zeros = 0;
    while (zeros < 8 && (in.peek() >> zeros & 1) == 0) ++zeros;
    bool damaged = zeros == 8;
    in.take(damaged ? 0 : zeros + 1);
    std::uint32_t state = static_cast<std::uint32_t>(in.peek()) & ((1U << shared.bits) - 1);
    in.take(shared.bits);
    auto* const symbols = reinterpret_cast<std::uint8_t*>(stream.segment->symbols);
    const std::uint64_t end = entropy::stream_start(stream.segment->count, stream.number + 1);
    std::uint64_t i = entropy::stream_start(stream.segment->count, stream.number);
    for (; i < end; ++i) {
      const std::uint32_t entry = shared.entry[state];
      const unsigned width = entry >> 8 & 0xff;
      symbols[i] = static_cast<std::uint8_t>(entry);
      const auto bits = static_cast<std::uint32_t>(in.peek()) & ((1U << width) - 1);
      state = (entry >> 16) + bits;
      in.take(width);
    }
    damaged = damaged || !in.has_ended() || state != 0;
    if (damaged) atomic_or(pointer<std::uint32_t>(a, 3), 1);
  });
}

/// By symbol, as entropy::RestTable.
struct RestSymbols {
  std::uint64_t base[256];
  std::uint8_t width[256];
};

/// Returns `width` bits from bit `position` on; bits from byte `bytes` on are zeros.
MCR_DEVICE std::uint64_t bits_at(const std::uint8_t* stored, std::uint32_t bytes,
                                 std::uint32_t position, unsigned width) {
  std::uint64_t bits = 0;
  const unsigned shift = position % 8;
  for (unsigned k = 0; k * 8 < width + shift; ++k) {
    const std::uint32_t at = position / 8 + k;
    const std::uint64_t byte = at < bytes ? stored[at] : 0;
    bits |= k == 0 ? byte >> shift : byte << (8 * k - shift);
  }
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

/// 0: symbols; 1: their count; 2: bytes of a word; 3: words to write; 4: rest bits of all segments; 5: where
/// each segment's begin, and the end; 6: RestSymbols; 7: a number that becomes 1 if a segment has another
/// length than its symbols need. One block for each segment.
MCR_DEVICE void run_rest_unpack(const Block& block, SumMemory<std::uint32_t>& memory,
                                const KernelArguments& a) {
  const auto* const symbols = pointer<const std::uint8_t>(a, 0);
  const auto* const begins = pointer<const std::uint32_t>(a, 5);
  const auto& table = *pointer<const RestSymbols>(a, 6);
  const std::uint64_t first = block.number * entropy::segment_symbols;
  const std::uint64_t end = least(a.words[1], first + entropy::segment_symbols);
  const std::uint8_t* const stored = pointer<const std::uint8_t>(a, 4) + begins[block.number];
  const std::uint32_t bytes = begins[block.number + 1] - begins[block.number];
  PerThread<std::uint32_t> bits;
  block.each([&](unsigned thread) {
    const std::uint64_t begin = first + thread * words_of_thread;
    std::uint32_t sum = 0;
    for (std::uint64_t i = begin; i < least(end, begin + words_of_thread); ++i) {
      sum += table.width[symbols[i]];
    }
    bits[thread] = sum;
  });
  const std::uint32_t total = sum_before(block, memory, bits);
  for_word(a.words[2], [&]<typename Word>(Word) {
    auto* const words = pointer<Word>(a, 3);
    block.each([&](unsigned thread) {
      if (thread == 0 && (total + 7) / 8 != bytes) atomic_or(pointer<std::uint32_t>(a, 7), 1);
      const std::uint64_t begin = first + thread * words_of_thread;
      std::uint32_t position = bits[thread];
      for (std::uint64_t i = begin; i < least(end, begin + words_of_thread); ++i) {
        const unsigned width = table.width[symbols[i]];
        words[i] =
            static_cast<Word>(table.base[symbols[i]] | bits_at(stored, bytes, position, width));
        position += width;
      }
    });
  });
}

/// 0: bytes to write; 1: their count; 2: the value of each.
MCR_DEVICE void run_fill(const Block& block, NoShared&, const KernelArguments& a) {
  auto* const to = pointer<std::uint8_t>(a, 0);
  for_all(block, a.words[1],
          [&](std::uint64_t i) { to[i] = static_cast<std::uint8_t>(a.words[2]); });
}

/// 0: bytes to read; 1: bytes to write, elsewhere; 2: their count.
MCR_DEVICE void run_copy(const Block& block, NoShared&, const KernelArguments& a) {
  const auto* const from = pointer<const std::uint8_t>(a, 0);
  auto* const to = pointer<std::uint8_t>(a, 1);
  for_all(block, a.words[2], [&](std::uint64_t i) { to[i] = from[i]; });
}

}  // namespace mcr::codecs::gpu

MCR_KERNEL(mcr_huffman_unpack, run_huffman_unpack, mcr::codecs::gpu::HuffmanTable)
MCR_KERNEL(mcr_tans_unpack, run_tans_unpack, mcr::codecs::gpu::StateTable)
MCR_KERNEL(mcr_rest_unpack, run_rest_unpack, mcr::codecs::gpu::SumMemory<std::uint32_t>)
MCR_KERNEL(mcr_fill, run_fill, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_copy, run_copy, mcr::codecs::gpu::NoShared)
