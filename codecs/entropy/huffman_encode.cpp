// SPDX-License-Identifier: BSD-3-Clause
// Computes code lengths with the two-queue method, and moves leaves to keep them within the limit.
// Four codes of a stream are joined before they enter the bit buffer, because the chain of
// operations on the buffer limits the speed.
#include <algorithm>

#include "codecs/base/cpu.hpp"
#include "codecs/entropy/huffman.hpp"

namespace mcr::codecs::entropy {
namespace {

std::uint32_t reverse_bits(std::uint32_t code, unsigned length) {
  code = (code & 0x5555U) << 1 | (code >> 1 & 0x5555U);
  code = (code & 0x3333U) << 2 | (code >> 2 & 0x3333U);
  code = (code & 0x0f0fU) << 4 | (code >> 4 & 0x0f0fU);
  code = (code & 0x00ffU) << 8 | (code >> 8 & 0x00ffU);
  return code >> (16 - length);
}

/// The symbols that occur, by ascending count, then by ascending symbol: count << 8 | symbol.
/// Sorted digit by digit, because blocks are small and comparisons would cost more than the coding.
class Leaves {
 public:
  explicit Leaves(const Histogram& histogram) {
    std::uint32_t all_bits = 0;
    for (unsigned s = 0; s < 256; ++s) {
      if (histogram.count[s] == 0) continue;
      leaf_[size_++] = std::uint64_t{histogram.count[s]} << 8 | s;
      all_bits |= histogram.count[s];
    }
    for (unsigned digit = 8; all_bits != 0; digit += 8, all_bits >>= 8) sort_by(digit);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint64_t weight(std::size_t i) const { return leaf_[i] >> 8; }
  [[nodiscard]] std::size_t symbol(std::size_t i) const { return leaf_[i] & 0xff; }

 private:
  void sort_by(unsigned digit) {
    std::uint16_t place[257] = {};
    for (std::size_t i = 0; i < size_; ++i) ++place[(leaf_[i] >> digit & 0xff) + 1];
    for (unsigned d = 1; d < 256; ++d)
      place[d] = static_cast<std::uint16_t>(place[d] + place[d - 1]);
    std::uint64_t sorted[256];
    for (std::size_t i = 0; i < size_; ++i) sorted[place[leaf_[i] >> digit & 0xff]++] = leaf_[i];
    std::copy_n(sorted, size_, leaf_);
  }

  std::uint64_t leaf_[256];
  std::size_t size_ = 0;
};

MCR_INLINE_LOOP std::uint8_t* encode_stream(const std::uint32_t* code, const std::uint8_t* symbol,
                                            std::size_t count, std::uint8_t* out) {
  std::uint64_t bits = 0;
  unsigned held = 0;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const std::uint32_t a = code[symbol[i]];
    const std::uint32_t b = code[symbol[i + 1]];
    const std::uint32_t c = code[symbol[i + 2]];
    const std::uint32_t d = code[symbol[i + 3]];
    const unsigned ab = (a >> 16) + (b >> 16);
    const std::uint64_t first = (a & 0xffff) | std::uint64_t{b & 0xffff} << (a >> 16);
    const std::uint64_t second = (c & 0xffff) | std::uint64_t{d & 0xffff} << (c >> 16);
    bits |= (first | second << ab) << held;
    held += ab + (c >> 16) + (d >> 16);
    store(out, little_endian(bits));
    out += held >> 3;
    bits >>= held & ~7U;
    held &= 7;
  }
  for (; i < count; ++i) {
    const std::uint32_t a = code[symbol[i]];
    bits |= std::uint64_t{a & 0xffff} << held;
    held += a >> 16;
  }
  store(out, little_endian(bits));
  return out + ((held + 7) >> 3);
}

}  // namespace

CodeLengths huffman_lengths(const Histogram& histogram) {
  // One queue holds the leaves by ascending weight, the other the inner nodes, which are also made
  // by ascending weight. Each queue ends with a weight above all others, so that the lighter head
  // is taken without another test or a branch.
  constexpr std::uint64_t none = ~std::uint64_t{0};
  const Leaves sorted(histogram);
  const std::size_t leaves = sorted.size();
  std::uint64_t weight[514];
  std::uint16_t parent[514];
  for (std::size_t i = 0; i < leaves; ++i) weight[i] = sorted.weight(i);
  std::fill_n(weight + leaves, leaves + 1, none);
  const std::size_t inner_begin = leaves + 1;  // after the leaves' end
  std::size_t leaf = 0;
  std::size_t inner = inner_begin;
  std::size_t made = inner_begin;
  const auto lightest = [&] {
    const bool take_leaf = weight[leaf] <= weight[inner];
    const std::size_t taken = take_leaf ? leaf : inner;
    leaf += take_leaf ? 1 : 0;
    inner += take_leaf ? 0 : 1;
    return taken;
  };
  for (; made < inner_begin + leaves - 1; ++made) {
    const std::size_t a = lightest();
    const std::size_t b = lightest();
    weight[made] = weight[a] + weight[b];
    parent[a] = parent[b] = static_cast<std::uint16_t>(made);
  }
  // Computes depths from the root down, as numbers of leaves at each depth. Deeper leaves than the
  // limit are cut, and the excess in the Kraft sum is compensated by longer codes for the deepest
  // of the others.
  std::uint16_t depth[514];
  depth[made - 1] = 0;
  unsigned leaves_at[huffman_bits + 1] = {};
  for (std::size_t i = made - 1; i-- > inner_begin;) {
    depth[i] = static_cast<std::uint16_t>(depth[parent[i]] + 1);
  }
  for (std::size_t i = 0; i < leaves; ++i) {
    ++leaves_at[std::min<unsigned>(depth[parent[i]] + 1U, huffman_bits)];
  }
  std::uint32_t kraft = 0;
  for (unsigned length = 1; length <= huffman_bits; ++length) {
    kraft += leaves_at[length] << (huffman_bits - length);
  }
  while (kraft > 1U << huffman_bits) {
    unsigned length = huffman_bits - 1;
    while (leaves_at[length] == 0) --length;
    --leaves_at[length];
    ++leaves_at[length + 1];
    kraft -= 1U << (huffman_bits - length - 1);
  }
  // The compensation can overshoot by a few units: shorten the longest codes that fit.
  while (kraft < 1U << huffman_bits) {
    const std::uint32_t spare = (1U << huffman_bits) - kraft;
    unsigned length = huffman_bits;
    while (leaves_at[length] == 0 || 1U << (huffman_bits - length) > spare) --length;
    --leaves_at[length];
    ++leaves_at[length - 1];
    kraft += 1U << (huffman_bits - length);
  }
  CodeLengths lengths;
  unsigned length = huffman_bits;
  for (std::size_t i = 0; i < leaves; ++i) {
    while (leaves_at[length] == 0) --length;
    --leaves_at[length];
    lengths.length[sorted.symbol(i)] = static_cast<std::uint16_t>(length);
  }
  return lengths;
}

HuffmanEncoder::HuffmanEncoder(const CodeLengths& lengths) {
  std::uint32_t of_length[huffman_bits + 1] = {};
  for (const std::uint16_t length : lengths.length) ++of_length[length];
  std::uint32_t next[huffman_bits + 1] = {};
  for (unsigned length = 2; length <= huffman_bits; ++length) {
    next[length] = (next[length - 1] + of_length[length - 1]) << 1;
  }
  for (unsigned s = 0; s < 256; ++s) {
    const unsigned length = lengths.length[s];
    code_[s] = length == 0 ? 0 : reverse_bits(next[length]++, length) | length << 16;
  }
}

std::size_t HuffmanEncoder::encode_segment(Symbols symbols, std::uint8_t* directory,
                                           std::uint8_t* out) const {
  std::uint8_t* const start = out;
  for (std::size_t stream = 0; stream < stream_count; ++stream) {
    const std::size_t first = stream_start(symbols.size(), stream);
    const std::size_t count = stream_start(symbols.size(), stream + 1) - first;
    std::uint8_t* const end = cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      return encode_stream(code_, symbols.data() + first, count, out);
    });
    store(directory + 2 * stream, little_endian(static_cast<std::uint16_t>(end - out)));
    out = end;
  }
  return static_cast<std::size_t>(out - start);
}

}  // namespace mcr::codecs::entropy
