// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/class_coder/symbol_contexts.hpp"

#include <algorithm>

namespace mcr::codecs {
namespace {

// Fewer symbols do not justify a table of their own.
constexpr std::uint64_t symbols_a_group = 4096;

/// Calls `visit(context, index)` for each symbol in order; `visit` must leave that symbol in
/// `symbols`. Returns false as soon as `visit` does.
template <typename Visit>
bool walk(std::span<const SymbolRows> rows, const std::uint8_t* symbols, const Visit& visit) {
  unsigned before = 0;
  std::size_t index = 0;
  for (const SymbolRows& brick : rows) {
    const std::size_t columns = brick.columns != 0 ? brick.columns : brick.count;
    for (std::size_t i = 0; i < brick.count; ++i, ++index) {
      const unsigned above = i < columns ? before : symbols[index - columns];
      if (!visit((before + above) / 2, index)) return false;
      before = symbols[index];
    }
  }
  return true;
}

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
  walk(rows, symbols.data(), [&](unsigned context, std::size_t) {
    ++sizes[group_of[context]];
    return true;
  });
  std::array<std::size_t, most_groups> place{};
  for (std::size_t group = 1; group < most_groups; ++group) {
    place[group] = place[group - 1] + sizes[group - 1];
  }
  walk(rows, symbols.data(), [&](unsigned context, std::size_t index) {
    grouped[place[group_of[context]]++] = symbols[index];
    return true;
  });
  return sizes;
}

bool join_by_context(const GroupTable& table, const std::array<std::size_t, most_groups>& sizes,
                     std::span<const SymbolRows> rows, entropy::Symbols grouped,
                     std::uint8_t* symbols) {
  const auto group_of = table.of_context();
  std::array<const std::uint8_t*, most_groups> at{};
  std::array<const std::uint8_t*, most_groups> end{};
  const std::uint8_t* start = grouped.data();
  for (std::size_t group = 0; group < most_groups; ++group) {
    at[group] = start;
    start += sizes[group];
    end[group] = start;
  }
  // The sizes sum up to the number of symbols, so if no group runs short, no symbol is left over.
  return walk(rows, symbols, [&](unsigned context, std::size_t index) {
    const std::uint8_t group = group_of[context];
    if (at[group] == end[group]) return false;
    symbols[index] = *at[group]++;
    return true;
  });
}

}  // namespace mcr::codecs
