// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/class_coder/symbol_contexts.hpp"

#include <algorithm>

namespace mcr::codecs {
namespace {

// Fewer symbols do not justify a table of their own.
constexpr std::uint64_t symbols_a_group = 4096;

/// Calls `visit(context, index)` for each symbol in order.
template <typename Visit>
void walk(std::span<const SymbolRows> rows, const std::uint8_t* symbols, const Visit& visit) {
  unsigned before = 0;
  std::size_t index = 0;
  for (const SymbolRows& brick : rows) {
    const std::size_t columns = brick.columns != 0 ? brick.columns : brick.count;
    for (std::size_t i = 0; i < brick.count; ++i, ++index) {
      const unsigned above = i < columns ? before : symbols[index - columns];
      visit((before + above) / 2, index);
      before = symbols[index];
    }
  }
}

/// By the sum of two neighbours: 8 times the group of their mean.
using ContextShifts = std::array<std::uint8_t, 511>;

ContextShifts shifts_of(const GroupTable& table) {
  const auto group_of = table.of_context();
  ContextShifts shifts{};
  for (std::size_t sum = 0; sum < shifts.size(); ++sum) {
    shifts[sum] = static_cast<std::uint8_t>(8 * group_of[sum / 2]);
  }
  return shifts;
}

/// The groups, read symbol by symbol. Each symbol chooses the group of the one after it, so the time from
/// one symbol to the next bounds the decoder. The next two symbols of every group are therefore kept
/// in two words: then only the look at the context waits for memory.
class NextSymbols {
 public:
  NextSymbols(const std::array<std::size_t, most_groups>& sizes, entropy::Symbols grouped)
      : symbols_(grouped.data()), last_(grouped.size() - 1) {
    std::size_t start = 0;
    for (std::size_t group = 0; group < most_groups; ++group) {
      at_[group] = start;
      first_ |= read(start) << 8 * group;
      second_ |= read(start + 1) << 8 * group;
      start += sizes[group];
      end_[group] = start;
    }
  }

  /// Takes the next symbol of the group `shift` / 8; returns false if it has none.
  bool take(unsigned shift, unsigned& symbol) {
    std::size_t& at = at_[shift / 8];
    if (at == end_[shift / 8]) return false;
    symbol = static_cast<unsigned>(first_ >> shift & 0xff);
    const std::uint64_t mask = std::uint64_t{0xff} << shift;
    first_ ^= (first_ ^ second_) & mask;
    second_ ^= (second_ ^ read(at + 2) << shift) & mask;
    ++at;
    return true;
  }

 private:
  /// The symbol at `index`; behind the last one, any symbol.
  [[nodiscard]] std::uint64_t read(std::size_t index) const {
    return symbols_[std::min(index, last_)];
  }

  const std::uint8_t* symbols_;
  std::size_t last_;
  std::array<std::size_t, most_groups> at_{};
  std::array<std::size_t, most_groups> end_{};
  std::uint64_t first_ = 0;   ///< byte g: the next symbol of group g, if it has one
  std::uint64_t second_ = 0;  ///< byte g: the symbol after that one
};

}  // namespace

std::array<std::uint8_t, 256> GroupTable::of_context() const {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t group = 1; group < groups; ++group) {
    std::fill(table.begin() + first[group], table.end(), static_cast<std::uint8_t>(group));
  }
  return table;
}

GroupTable choose_groups(const entropy::Histogram& histogram) {
  std::uint64_t total = 0;
  for (const std::uint32_t count : histogram.count) total += count;
  GroupTable table;
  const std::uint64_t wanted = std::clamp<std::uint64_t>(total / symbols_a_group, 1, most_groups);
  std::uint64_t seen = 0;
  for (unsigned symbol = 0; symbol < 256; ++symbol) {
    // Contexts are distributed like symbols, or more narrowly, so the quantiles of symbols serve
    // for both.
    if (seen * wanted >= table.groups * total && table.groups < wanted) {
      table.first[table.groups++] = static_cast<std::uint8_t>(symbol);
    }
    seen += histogram.count[symbol];
  }
  return table;
}

std::array<std::size_t, most_groups> split_by_context(const GroupTable& table,
                                                      std::span<const SymbolRows> rows,
                                                      entropy::Symbols symbols,
                                                      std::uint8_t* grouped) {
  const auto group_of = table.of_context();
  std::array<std::size_t, most_groups> sizes{};
  walk(rows, symbols.data(), [&](unsigned context, std::size_t) { ++sizes[group_of[context]]; });
  std::array<std::size_t, most_groups> place{};
  for (std::size_t group = 1; group < most_groups; ++group) {
    place[group] = place[group - 1] + sizes[group - 1];
  }
  walk(rows, symbols.data(), [&](unsigned context, std::size_t index) {
    grouped[place[group_of[context]]++] = symbols[index];
  });
  return sizes;
}

bool join_by_context(const GroupTable& table, const std::array<std::size_t, most_groups>& sizes,
                     std::span<const SymbolRows> rows, entropy::Symbols grouped,
                     std::uint8_t* symbols) {
  if (grouped.empty()) return true;
  const ContextShifts shifts = shifts_of(table);
  NextSymbols next(sizes, grouped);
  unsigned before = 0;
  // The sizes sum up to the number of symbols, so if no group runs short, no symbol is left over.
  for (const SymbolRows& brick : rows) {
    const std::size_t first_row =
        brick.columns != 0 ? std::min(brick.columns, brick.count) : brick.count;
    for (std::size_t i = 0; i < first_row; ++i) {
      if (!next.take(shifts[before + before], before)) return false;
      symbols[i] = static_cast<std::uint8_t>(before);
    }
    for (std::size_t i = first_row; i < brick.count; ++i) {
      if (!next.take(shifts[before + symbols[i - first_row]], before)) return false;
      symbols[i] = static_cast<std::uint8_t>(before);
    }
    symbols += brick.count;
  }
  return true;
}

}  // namespace mcr::codecs
