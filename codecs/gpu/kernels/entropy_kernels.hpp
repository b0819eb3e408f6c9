// SPDX-License-Identifier: BSD-3-Clause
// The entropy coder (codecs/entropy): counts symbols, and codes segments with tables that the host
// made from the counts.
#pragma once

#include "codecs/entropy/segments.hpp"
#include "codecs/gpu/kernels/bit_writer.hpp"
#include "codecs/gpu/kernels/rest_kernels.hpp"

namespace mcr::codecs::gpu {

/// Symbols that are coded together. A segment of an entropy block, with the number of its block's table.
struct Segment {
  std::uint64_t symbols;  ///< address
  std::uint32_t count;    ///< at most entropy::segment_symbols
  std::uint32_t table;
  std::uint32_t first_part;  ///< of its four streams
  std::uint32_t unused;
};

/// The most bytes of a stream, rounded up to words.
inline constexpr std::uint64_t stream_slot_bytes =
    (entropy::segment_symbols / entropy::stream_count * entropy::tans_bits / 8 + 16 + 15) / 16 * 16;

struct SymbolCounts {
  std::uint32_t count[256];
};

/// 0: Segments, one for each block; 1: for each table, 256 numbers to which the counts are added.
MCR_DEVICE void run_histogram(const Block& block, SymbolCounts& shared, const KernelArguments& a) {
  const Segment& segment = pointer<const Segment>(a, 0)[block.number];
  const auto* const symbols = reinterpret_cast<const std::uint8_t*>(segment.symbols);
  std::uint32_t* const counts = pointer<std::uint32_t>(a, 1) + std::uint64_t{segment.table} * 256;
  block.each([&](unsigned thread) { shared.count[thread] = 0; });
  block.each([&](unsigned thread) {
    for (std::uint32_t i = thread; i < segment.count; i += k_block_threads) {
      atomic_add(&shared.count[symbols[i]], 1);
    }
  });
  block.each([&](unsigned thread) {
    if (shared.count[thread] != 0) atomic_add(counts + thread, shared.count[thread]);
  });
}

struct HuffmanShared {
  std::uint32_t code[256];
  std::uint32_t stream_bits[entropy::stream_count + 1];
  SumMemory<std::uint32_t> memory;
};

inline constexpr unsigned threads_of_stream =
    k_block_threads / static_cast<unsigned>(entropy::stream_count);

/// A thread's run of symbols within its stream.
struct StreamRun {
  std::uint64_t begin;
  std::uint64_t end;
};
MCR_DEVICE StreamRun run_of_thread(std::uint32_t count, unsigned thread) {
  const std::uint64_t stream = thread / threads_of_stream;
  const std::uint64_t begin = entropy::stream_start(count, stream);
  const std::uint64_t end = entropy::stream_start(count, stream + 1);
  const std::uint64_t share = (end - begin + threads_of_stream - 1) / threads_of_stream;
  const std::uint64_t at = begin + thread % threads_of_stream * share;
  return {least(at, end), least(at + share, end)};
}

/// 0: Segments, one for each block; 1: tables of 256 codes, each a code and its length << 16; 2: slots of
/// stream_slot_bytes for all parts; 3: Parts to write.
MCR_DEVICE void run_huffman_pack(const Block& block, HuffmanShared& shared,
                                 const KernelArguments& a) {
  const Segment& segment = pointer<const Segment>(a, 0)[block.number];
  const auto* const symbols = reinterpret_cast<const std::uint8_t*>(segment.symbols);
  const auto* const codes = pointer<const std::uint32_t>(a, 1) + std::uint64_t{segment.table} * 256;
  std::uint8_t* const slots = pointer<std::uint8_t>(a, 2) + segment.first_part * stream_slot_bytes;
  PerThread<std::uint32_t> bits;
  block.each([&](unsigned thread) { shared.code[thread] = codes[thread]; });
  block.each([&](unsigned thread) {
    const StreamRun run = run_of_thread(segment.count, thread);
    std::uint32_t sum = 0;
    for (std::uint64_t i = run.begin; i < run.end; ++i) sum += shared.code[symbols[i]] >> 16;
    bits[thread] = sum;
  });
  const std::uint32_t total = sum_before(block, shared.memory, bits);
  block.each([&](unsigned thread) {
    if (thread % threads_of_stream == 0) {
      shared.stream_bits[thread / threads_of_stream] = bits[thread];
    }
    if (thread == 0) shared.stream_bits[entropy::stream_count] = total;
  });
  block.each([&](unsigned thread) {
    const unsigned stream = thread / threads_of_stream;
    const std::uint32_t length = shared.stream_bits[stream + 1] - shared.stream_bits[stream];
    std::uint8_t* const slot = slots + stream * stream_slot_bytes;
    auto* const words = reinterpret_cast<std::uint32_t*>(slot);
    for (std::uint32_t w = thread % threads_of_stream; w < (length + 31) / 32;
         w += threads_of_stream) {
      words[w] = 0;
    }
    if (thread % threads_of_stream == 0) {
      pointer<Part>(a, 3)[segment.first_part + stream] = {reinterpret_cast<std::uint64_t>(slot),
                                                          (length + 7) / 8, 0};
    }
  });
  block.each([&](unsigned thread) {
    const unsigned stream = thread / threads_of_stream;
    const StreamRun run = run_of_thread(segment.count, thread);
    BitWriter out(reinterpret_cast<std::uint32_t*>(slots + stream * stream_slot_bytes),
                  bits[thread] - shared.stream_bits[stream]);
    for (std::uint64_t i = run.begin; i < run.end; ++i) {
      const std::uint32_t code = shared.code[symbols[i]];
      out.put_short(code & 0xffff, code >> 16);
    }
    out.end();
  });
}

/// As TansEncoder::Symbol.
struct TansSymbol {
  std::uint32_t bits;
  std::int32_t start;
};
struct TansTable {
  std::uint32_t bits;
  std::uint32_t unused;
  TansSymbol symbol[256];
  std::uint16_t next[1U << entropy::tans_bits];
};
/// Segments of one block; a stream is coded by one thread, because each of its states depends on the
/// one before.
struct TansGroup {
  std::uint32_t first_segment;
  std::uint32_t segments;  ///< at most segments_of_group
  std::uint32_t table;
  std::uint32_t unused;
};
inline constexpr std::uint32_t segments_of_group =
    k_block_threads / static_cast<std::uint32_t>(entropy::stream_count);

/// Bits before those that were written before, from the end of a slot.
struct BackwardWriter {
  std::uint64_t held;  ///< the newest bits are the lowest
  unsigned used;
  std::uint8_t* at;

  MCR_DEVICE void put(std::uint32_t value, unsigned width) {
    held = held << width | value;
    used += width;
    if (used < 32) return;
    at -= 4;
    *reinterpret_cast<std::uint32_t*>(at) = static_cast<std::uint32_t>(held >> (used - 32));
    used -= 32;
  }
  /// Writes the last bits, whose number must be a multiple of 8.
  MCR_DEVICE void end() {
    for (; used != 0; used -= 8) *--at = static_cast<std::uint8_t>(held >> (used - 8));
  }
};

/// 0: Segments; 1: TansTables; 2 and 3: as run_huffman_pack(); 4: TansGroups, one for each block.
MCR_DEVICE void run_tans_pack(const Block& block, TansTable& shared, const KernelArguments& a) {
  const TansGroup& group = pointer<const TansGroup>(a, 4)[block.number];
  const TansTable& table = pointer<const TansTable>(a, 1)[group.table];
  block.each([&](unsigned thread) {
    shared.symbol[thread] = table.symbol[thread];
    for (unsigned i = thread; i < 1U << table.bits; i += k_block_threads) {
      shared.next[i] = table.next[i];
    }
    if (thread == 0) shared.bits = table.bits;
  });
  block.each([&](unsigned thread) {
    const unsigned stream = thread % static_cast<unsigned>(entropy::stream_count);
    const unsigned number = thread / static_cast<unsigned>(entropy::stream_count);
    if (number >= group.segments) return;
    const Segment& segment = pointer<const Segment>(a, 0)[group.first_segment + number];
    const auto* const symbols = reinterpret_cast<const std::uint8_t*>(segment.symbols);
    const std::uint64_t part = std::uint64_t{segment.first_part} + stream;
    std::uint8_t* const end = pointer<std::uint8_t>(a, 2) + (part + 1) * stream_slot_bytes;
    BackwardWriter out{0, 0, end};
    std::uint32_t state = 1U << shared.bits;
    const std::uint64_t first = entropy::stream_start(segment.count, stream);
    for (std::uint64_t i = entropy::stream_start(segment.count, stream + 1); i-- > first;) {
      const TansSymbol entry = shared.symbol[symbols[i]];
      const unsigned width = (state + entry.bits) >> 16;
      out.put(state & ((1U << width) - 1), width);
      state = shared.next[static_cast<std::int32_t>(state >> width) + entry.start];
    }
    // The decoder's first state, then a one, then zeros down to the byte's start.
    out.put(state - (1U << shared.bits), shared.bits);
    out.put(1, 1);
    out.put(0, (8 - (out.used & 7)) & 7);
    out.end();
    pointer<Part>(a, 3)[part] = {reinterpret_cast<std::uint64_t>(out.at),
                                 static_cast<std::uint32_t>(end - out.at), 0};
  });
}

/// 0: numbers of 32 bits; 1: their count; 2: how many numbers apart they lie; 3: to write for each number,
/// the sum of the numbers before it, and at the end the sum of all. One block.
MCR_DEVICE void run_sums(const Block& block, SumMemory<std::uint32_t>& memory,
                         const KernelArguments& a) {
  const auto* const numbers = pointer<const std::uint32_t>(a, 0);
  auto* const sums = pointer<std::uint32_t>(a, 3);
  std::uint32_t before = 0;
  for (std::uint64_t first = 0; first < a.words[1]; first += k_block_threads) {
    PerThread<std::uint32_t> values;
    block.each([&](unsigned thread) {
      values[thread] = first + thread < a.words[1] ? numbers[(first + thread) * a.words[2]] : 0;
    });
    const std::uint32_t sum = sum_before(block, memory, values);
    block.each([&](unsigned thread) {
      if (first + thread < a.words[1]) sums[first + thread] = before + values[thread];
    });
    before += sum;
  }
  block.each([&](unsigned thread) {
    if (thread == 0) sums[a.words[1]] = before;
  });
}

/// 0: Parts, one for each block; 1: where each goes; 2: bytes to write.
MCR_DEVICE void run_gather(const Block& block, NoShared&, const KernelArguments& a) {
  const Part& part = pointer<const Part>(a, 0)[block.number];
  const auto* const from = reinterpret_cast<const std::uint8_t*>(part.address);
  std::uint8_t* const to =
      pointer<std::uint8_t>(a, 2) + pointer<const std::uint32_t>(a, 1)[block.number];
  block.each([&](unsigned thread) {
    for (std::uint32_t i = thread; i < part.bytes; i += k_block_threads) to[i] = from[i];
  });
}

}  // namespace mcr::codecs::gpu

MCR_KERNEL(mcr_histogram, run_histogram, mcr::codecs::gpu::SymbolCounts)
MCR_KERNEL(mcr_huffman_pack, run_huffman_pack, mcr::codecs::gpu::HuffmanShared)
MCR_KERNEL(mcr_tans_pack, run_tans_pack, mcr::codecs::gpu::TansTable)
MCR_KERNEL(mcr_sums, run_sums, mcr::codecs::gpu::SumMemory<std::uint32_t>)
MCR_KERNEL(mcr_gather, run_gather, mcr::codecs::gpu::NoShared)
