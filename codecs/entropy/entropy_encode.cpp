// SPDX-License-Identifier: BSD-3-Clause
// Counts the symbols, chooses the mode, and writes the block around the segments.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "codecs/entropy/block_plan.hpp"

namespace mcr::codecs::entropy {
namespace {

/// Returns log2(value) in units of 1/256. Computed by repeated squaring of integers, so that every
/// machine makes the same choices.
constexpr std::uint16_t log2_by_squaring(std::uint64_t value) {
  const auto whole = static_cast<unsigned>(std::bit_width(value)) - 1;
  std::uint64_t mantissa = whole > 31 ? value >> (whole - 31) : value << (31 - whole);
  std::uint32_t result = whole;
  for (int bit = 0; bit < 8; ++bit) {
    mantissa = mantissa * mantissa >> 31;
    const std::uint64_t carry = mantissa >> 32;
    mantissa >>= carry;
    result = result << 1 | static_cast<std::uint32_t>(carry);
  }
  return static_cast<std::uint16_t>(result);
}

constexpr std::size_t small_counts = 4096;
constexpr auto small_logs = [] {
  std::array<std::uint16_t, small_counts> logs{};
  for (std::size_t i = 1; i < small_counts; ++i) logs[i] = log2_by_squaring(i);
  return logs;
}();

std::uint32_t log2_in_256ths(std::uint64_t value) {
  return value < small_counts ? small_logs[value] : log2_by_squaring(value);
}

struct Totals {
  std::uint64_t symbols = 0;
  unsigned used = 0;
  unsigned last_used = 0;
};

Totals totals_of(const Histogram& histogram) {
  Totals totals;
  for (unsigned s = 0; s < 256; ++s) {
    if (histogram.count[s] == 0) continue;
    totals.symbols += histogram.count[s];
    ++totals.used;
    totals.last_used = s;
  }
  return totals;
}

std::size_t huffman_size(const Histogram& histogram, const Totals& totals,
                         const CodeLengths& lengths) {
  std::uint64_t bits = 0;
  for (unsigned s = 0; s < 256; ++s) bits += std::uint64_t{histogram.count[s]} * lengths.length[s];
  return static_cast<std::size_t>(bits / 8) + 2 + totals.used * 7 / 8 +
         segments_of(static_cast<std::size_t>(totals.symbols)) * (directory_bytes + 2);
}

/// Returns the entropy of the symbols from their counts, in units of 1/256 bits. The result is at
/// most 2/256 bits per symbol too large.
std::uint64_t entropy_in_256ths(const Histogram& histogram, const Totals& totals) {
  std::uint64_t bits = 0;
  const std::uint64_t log_total = log2_in_256ths(totals.symbols);
  for (const std::uint32_t count : histogram.count) {
    if (count != 0) bits += count * (log_total - log2_in_256ths(count));
  }
  return bits;
}

std::size_t tans_size(const Totals& totals, std::uint64_t entropy) {
  return static_cast<std::size_t>(entropy / 2048) + 3 + totals.used * 3 / 2 +
         segments_of(static_cast<std::size_t>(totals.symbols)) * (directory_bytes + 8);
}

/// True if no code can make the symbols smaller, as for most byte planes of numbers. Avoids making
/// a code in vain: no code of order 0 takes less than the entropy, and each code needs a table.
bool is_noise(const Totals& totals, std::uint64_t entropy) {
  const std::uint64_t least = entropy - std::min(entropy, 2 * totals.symbols);
  return least / 2048 + totals.used * 7 / 8 +
             segments_of(static_cast<std::size_t>(totals.symbols)) * directory_bytes >
         totals.symbols;
}

std::uint8_t* bytes_at(MutableByteSpan out, std::size_t position) {
  return reinterpret_cast<std::uint8_t*>(out.data()) + position;
}

template <typename Encoder>
std::size_t encode_segments(const Encoder& encoder, Symbols symbols, MutableByteSpan out,
                            std::size_t position) {
  std::size_t directory = position;
  position += segments_of(symbols.size()) * directory_bytes;
  for (std::size_t first = 0; first < symbols.size(); first += segment_symbols) {
    const Symbols segment =
        symbols.subspan(first, std::min(segment_symbols, symbols.size() - first));
    position += encoder.encode_segment(segment, bytes_at(out, directory), bytes_at(out, position));
    directory += directory_bytes;
  }
  return position;
}

std::size_t store_raw(Symbols symbols, MutableByteSpan out) {
  out[0] = static_cast<std::byte>(Mode::raw);
  if (!symbols.empty()) std::memcpy(out.data() + 1, symbols.data(), symbols.size());
  return 1 + symbols.size();
}

}  // namespace

Histogram count_symbols(Symbols symbols) {
  // Uses four tables. With one table, each symbol of a run of equal symbols would wait for the
  // store of the one before.
  std::uint32_t count[4][256] = {};
  std::size_t i = 0;
  for (; i + 8 <= symbols.size(); i += 8) {
    const auto eight = load<std::uint64_t>(symbols.data() + i);
    for (unsigned k = 0; k < 8; ++k) ++count[k & 3][eight >> (8 * k) & 0xff];
  }
  for (; i < symbols.size(); ++i) ++count[0][symbols[i]];
  Histogram histogram;
  for (unsigned s = 0; s < 256; ++s) {
    histogram.count[s] = count[0][s] + count[1][s] + count[2][s] + count[3][s];
  }
  return histogram;
}

std::size_t block_bound(std::size_t count) {
  const std::size_t segments = segments_of(count);
  return 64 + number_table_bound(256) + segments * (directory_bytes + 64) + count +
         (count + 1) / 2 + 8;
}

std::size_t estimate_block(const Histogram& histogram, Method method) {
  const Totals totals = totals_of(histogram);
  const auto raw = static_cast<std::size_t>(totals.symbols) + 1;
  if (totals.used < 2) return totals.used + 1;
  const std::uint64_t entropy = entropy_in_256ths(histogram, totals);
  if (is_noise(totals, entropy)) return raw;
  std::size_t best = std::min(raw, huffman_size(histogram, totals, huffman_lengths(histogram)));
  if (method == Method::smallest) best = std::min(best, tans_size(totals, entropy));
  return best;
}

BlockPlan plan_block(const Histogram& histogram, Method method) {
  BlockPlan plan;
  const auto put = [&](std::size_t byte) { plan.head[plan.head_bytes++] = std::byte(byte); };
  const auto put_mode = [&](Mode mode) {
    plan.mode = mode;
    put(static_cast<std::size_t>(mode));
  };
  const Totals totals = totals_of(histogram);
  if (totals.used == 1) {
    put_mode(Mode::constant);
    put(totals.last_used);
    return plan;
  }
  const std::uint64_t entropy = totals.used == 0 ? 0 : entropy_in_256ths(histogram, totals);
  if (totals.used == 0 || is_noise(totals, entropy)) {
    put_mode(Mode::raw);
    return plan;
  }
  const auto symbols = static_cast<std::size_t>(totals.symbols);
  plan.lengths = huffman_lengths(histogram);
  const std::size_t huffman = huffman_size(histogram, totals, plan.lengths);
  const std::size_t tans =
      method == Method::smallest ? tans_size(totals, entropy) : huffman + symbols;
  if (std::min(huffman, tans) >= symbols) {
    put_mode(Mode::raw);
    return plan;
  }
  put_mode(tans + tans / 200 < huffman ? Mode::tans : Mode::huffman);
  put(totals.last_used);
  const auto put_table = [&](const std::uint16_t(&numbers)[256]) {
    plan.head_bytes += write_number_table(std::span(numbers, totals.last_used + 1),
                                          plan.head.data() + plan.head_bytes);
  };
  if (plan.mode == Mode::tans) {
    plan.states = tans_states(histogram);
    put(plan.states.bits);
    put_table(plan.states.states);
  } else {
    put_table(plan.lengths.length);
  }
  return plan;
}

std::size_t encode_block(Symbols symbols, const Histogram& histogram, Method method,
                         MutableByteSpan out) {
  const BlockPlan plan = plan_block(histogram, method);
  if (plan.mode == Mode::raw) return store_raw(symbols, out);
  std::copy_n(plan.head.begin(), plan.head_bytes, out.begin());
  std::size_t position = plan.head_bytes;
  if (plan.mode == Mode::constant) return position;
  if (plan.mode == Mode::tans) {
    position = encode_segments(TansEncoder(plan.states), symbols, out, position);
  } else {
    position = encode_segments(HuffmanEncoder(plan.lengths), symbols, out, position);
  }
  return position > symbols.size() ? store_raw(symbols, out) : position;
}

}  // namespace mcr::codecs::entropy
