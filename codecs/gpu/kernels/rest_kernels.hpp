// SPDX-License-Identifier: BSD-3-Clause
// Splits words into symbols and rest bits (codecs/entropy/rest_bits.hpp). A block codes one segment:
// each thread classifies a run of words, the sum of the widths before a run is its place, and each
// thread then writes its rest bits.
#pragma once

#include "codecs/class_coder/word_class.hpp"
#include "codecs/entropy/segments.hpp"
#include "codecs/gpu/kernels/bit_writer.hpp"
#include "codecs/gpu/kernels/word_kernels.hpp"

namespace mcr::codecs::gpu {

/// Words of a segment that one thread codes.
inline constexpr std::uint64_t words_of_thread = entropy::segment_symbols / k_block_threads;

MCR_DEVICE std::uint64_t least(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

/// Where a kernel puts the rest bits of a segment.
struct RestSlots {
  std::uint8_t* first;
  std::uint64_t bytes;  ///< of a slot, a multiple of 4
  Part* parts;
};

/// `classify(word)` returns {symbol, width}.
template <typename Word, typename Classify>
MCR_DEVICE void pack_segment(const Block& block, SumMemory<std::uint32_t>& memory,
                             const Word* words, std::uint64_t count, const Classify& classify,
                             std::uint8_t* symbols, const RestSlots& slots) {
  const std::uint64_t first = block.number * entropy::segment_symbols;
  const std::uint64_t end = least(count, first + entropy::segment_symbols);
  auto* const slot = reinterpret_cast<std::uint32_t*>(slots.first + block.number * slots.bytes);
  PerThread<std::uint32_t> bits;
  block.each([&](unsigned thread) {
    std::uint32_t sum = 0;
    const std::uint64_t begin = first + thread * words_of_thread;
    for (std::uint64_t i = begin; i < least(end, begin + words_of_thread); ++i) {
      const auto [symbol, width] = classify(words[i]);
      symbols[i] = static_cast<std::uint8_t>(symbol);
      sum += width;
    }
    bits[thread] = sum;
  });
  const std::uint32_t total = sum_before(block, memory, bits);
  block.each([&](unsigned thread) {
    for (std::uint32_t w = thread; w < (total + 31) / 32; w += k_block_threads) slot[w] = 0;
    if (thread == 0) {
      slots.parts[block.number] = {reinterpret_cast<std::uint64_t>(slot), (total + 7) / 8, 0};
    }
  });
  block.each([&](unsigned thread) {
    BitWriter out(slot, bits[thread]);
    const std::uint64_t begin = first + thread * words_of_thread;
    for (std::uint64_t i = begin; i < least(end, begin + words_of_thread); ++i) {
      const unsigned width = classify(words[i]).width;
      const std::uint64_t word = words[i];
      out.put(width == 64 ? word : word & ((std::uint64_t{1} << width) - 1), width);
    }
    out.end();
  });
}

/// 0: words; 1: their count; 2: bytes of a word; 3: symbols to write; 4: slots for rest bits; 5: bytes of
/// a slot; 6: Parts to write, one for each segment. One block for each segment.
MCR_DEVICE void run_class_pack(const Block& block, SumMemory<std::uint32_t>& memory,
                               const KernelArguments& a) {
  const RestSlots slots{pointer<std::uint8_t>(a, 4), a.words[5], pointer<Part>(a, 6)};
  for_word(a.words[2], [&]<typename Word>(Word) {
    pack_segment(
        block, memory, pointer<const Word>(a, 0), a.words[1],
        [](Word word) { return classify(word); }, pointer<std::uint8_t>(a, 3), slots);
  });
}

/// 0: words; 1: their count; 2: bytes of a word; 3: the key is the word shifted right by this; 4: numbers
/// to which the count of each key is added.
MCR_DEVICE void run_key_counts(const Block& block, NoShared&, const KernelArguments& a) {
  auto* const counts = pointer<std::uint32_t>(a, 4);
  for_word(a.words[2], [&]<typename Word>(Word) {
    const auto* const words = pointer<const Word>(a, 0);
    for_all(block, a.words[1],
            [&](std::uint64_t i) { atomic_add(counts + (words[i] >> a.words[3]), 1); });
  });
}

/// What the symbols of top_bits stand for.
struct TopBitsSymbols {
  std::uint64_t exact[16];
  std::uint32_t exact_count;
  std::uint32_t key_count;
  std::uint32_t key_shift;
  std::uint32_t unused;
  std::uint8_t width[256];  ///< rest bits of each symbol
  std::uint32_t keys[256];
};

struct ClassOfTopBits {
  unsigned symbol;
  unsigned width;
};

/// 0: TopBitsSymbols; 1: for each key, its symbol, plus 0x100 if an exact value has this key (to write);
/// 2: the number of possible keys. One block.
MCR_DEVICE void run_top_bits_map(const Block& block, NoShared&, const KernelArguments& a) {
  const auto& table = *pointer<const TopBitsSymbols>(a, 0);
  auto* const map = pointer<std::uint16_t>(a, 1);
  for_all(block, a.words[2], [&](std::uint64_t key) { map[key] = 255; });
  for_all(block, table.key_count, [&](std::uint64_t i) {
    map[table.keys[i]] = static_cast<std::uint16_t>(table.exact_count + i);
  });
  block.each([&](unsigned thread) {
    if (thread != 0) return;
    for (std::uint32_t i = 0; i < table.exact_count; ++i) {
      auto& entry = map[table.exact[i] >> table.key_shift];
      entry = static_cast<std::uint16_t>(entry | 0x100);
    }
  });
}

/// As run_class_pack(), and 7: TopBitsSymbols; 8: the map of run_top_bits_map().
MCR_DEVICE void run_top_bits_pack(const Block& block, SumMemory<std::uint32_t>& memory,
                                  const KernelArguments& a) {
  const RestSlots slots{pointer<std::uint8_t>(a, 4), a.words[5], pointer<Part>(a, 6)};
  const auto& table = *pointer<const TopBitsSymbols>(a, 7);
  const auto* const map = pointer<const std::uint16_t>(a, 8);
  for_word(a.words[2], [&]<typename Word>(Word) {
    const auto class_of = [&](Word word) {
      const std::uint16_t entry = map[word >> table.key_shift];
      unsigned symbol = entry & 0xffU;
      if ((entry & 0x100) != 0) {
        for (std::uint32_t i = 0; i < table.exact_count; ++i) {
          if (table.exact[i] == word) symbol = i;
        }
      }
      return ClassOfTopBits{symbol, table.width[symbol]};
    };
    pack_segment(block, memory, pointer<const Word>(a, 0), a.words[1], class_of,
                 pointer<std::uint8_t>(a, 3), slots);
  });
}

}  // namespace mcr::codecs::gpu

MCR_KERNEL(mcr_class_pack, run_class_pack, mcr::codecs::gpu::SumMemory<std::uint32_t>)
MCR_KERNEL(mcr_key_counts, run_key_counts, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_top_bits_map, run_top_bits_map, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_top_bits_pack, run_top_bits_pack, mcr::codecs::gpu::SumMemory<std::uint32_t>)
