// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "codecs/entropy/rest_bits.hpp"
#include "codecs/top_bits/top_bits.hpp"

namespace mcr::codecs {
namespace {

constexpr std::size_t symbol_limit = 256;
constexpr std::size_t sample_words = 2048;
// A value that occurs this often in the sample is worth a symbol of its own.
constexpr std::size_t least_hits = 4;
constexpr std::uint16_t may_be_exact = 0x100;

template <typename Word>
std::vector<std::uint64_t> frequent_values(const std::byte* words, std::size_t count) {
  Word sample[sample_words];
  const std::size_t taken = std::min(count, sample_words);
  for (std::size_t i = 0; i < taken; ++i) {
    sample[i] = load<Word>(words + i * count / taken * sizeof(Word));
  }
  std::sort(sample, sample + taken);
  struct Frequent {
    std::size_t hits;
    Word value;
  };
  std::vector<Frequent> found;
  for (std::size_t i = 0; i < taken;) {
    std::size_t end = i + 1;
    while (end < taken && sample[end] == sample[i]) ++end;
    if (end - i >= least_hits) found.push_back({end - i, sample[i]});
    i = end;
  }
  std::sort(found.begin(), found.end(), [](const Frequent& a, const Frequent& b) {
    return a.hits != b.hits ? a.hits > b.hits : a.value < b.value;
  });
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < std::min(found.size(), TopBitsTable::most_exact); ++i) {
    values.push_back(found[i].value);
  }
  return values;
}

struct SymbolAndWidth {
  unsigned symbol;
  unsigned width;
};

template <typename Word>
MCR_INLINE_LOOP std::size_t encode_loop(const TopBitsTable& table, const std::uint16_t* map,
                                        const std::uint8_t* width, const std::byte* words,
                                        std::size_t count, std::uint8_t* symbols,
                                        std::uint8_t* rest) {
  const unsigned shift = word_bits<Word> - table.key_bits;
  const std::uint64_t* const exact = table.exact.data();
  const std::size_t exact_count = table.exact.size();
  const auto classify = [=](Word word) MCR_INLINE_LAMBDA {
    const std::uint16_t entry = map[word >> shift];
    auto symbol = static_cast<std::uint8_t>(entry);
    if ((entry & may_be_exact) != 0) {
      for (std::size_t i = 0; i < exact_count; ++i) {
        if (exact[i] == word) symbol = static_cast<std::uint8_t>(i);
      }
    }
    return SymbolAndWidth{symbol, width[symbol]};
  };
  return entropy::pack_rest<Word>(words, count, classify, symbols, rest);
}

}  // namespace

TopBitsTable top_bits_table(std::size_t size, unsigned key_bits, const std::byte* words,
                            std::size_t count, std::uint32_t* counts) {
  std::fill_n(counts, std::size_t{1} << key_bits, 0);
  with_word(size, [&]<typename Word>(Word) {
    const unsigned shift = word_bits<Word> - key_bits;
    for (std::size_t i = 0; i < count; ++i) ++counts[load<Word>(words + i * sizeof(Word)) >> shift];
  });
  return top_bits_table_of(size, key_bits, words, count, counts);
}

TopBitsTable top_bits_table_of(std::size_t size, unsigned key_bits, const std::byte* words,
                               std::size_t count, const std::uint32_t* counts) {
  TopBitsTable table;
  table.key_bits = key_bits;
  with_word(size, [&]<typename Word>(Word) { table.exact = frequent_values<Word>(words, count); });
  for (std::uint32_t key = 0; key < 1U << key_bits; ++key) {
    if (counts[key] != 0) table.keys.push_back(key);
  }
  const std::size_t room = symbol_limit - table.exact.size();
  if (table.keys.size() > room) {
    table.escape = true;
    const auto last = table.keys.begin() + static_cast<std::ptrdiff_t>(room - 1);
    std::nth_element(table.keys.begin(), last, table.keys.end(),
                     [&](std::uint32_t a, std::uint32_t b) {
                       return counts[a] != counts[b] ? counts[a] > counts[b] : a < b;
                     });
    table.keys.erase(last, table.keys.end());
    std::sort(table.keys.begin(), table.keys.end());
  }
  return table;
}

std::size_t top_bits_rest_bound(std::size_t size, std::size_t count) {
  return entropy::rest_bound(count, size);
}

std::size_t top_bits_encode(std::size_t size, const TopBitsTable& table, const std::byte* words,
                            std::size_t count, std::uint16_t* map, std::uint8_t* symbols,
                            std::byte* rest) {
  auto* const out = reinterpret_cast<std::uint8_t*>(rest);
  return with_word(size, [&]<typename Word>(Word) {
    const unsigned shift = word_bits<Word> - table.key_bits;
    const std::size_t first_key = table.exact.size();
    std::uint8_t width[symbol_limit] = {};
    std::fill_n(width + first_key, table.keys.size(), static_cast<std::uint8_t>(shift));
    if (table.escape) width[symbol_limit - 1] = static_cast<std::uint8_t>(word_bits<Word>);
    std::fill_n(map, std::size_t{1} << table.key_bits,
                static_cast<std::uint16_t>(symbol_limit - 1));
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      map[table.keys[i]] = static_cast<std::uint16_t>(first_key + i);
    }
    for (const std::uint64_t value : table.exact) map[value >> shift] |= may_be_exact;
    return cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      return encode_loop<Word>(table, map, width, words, count, symbols, out);
    });
  });
}

}  // namespace mcr::codecs
