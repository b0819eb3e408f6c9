// SPDX-License-Identifier: BSD-3-Clause
// Code lengths by the two-queue method, limited by moving leaves; streams with four codes joined
// before they meet the bit buffer, because the chain through the buffer is what bounds the speed.
#include <algorithm>

#include "codecs/base/cpu.hpp"
#include "codecs/entropy/huffman.hpp"

namespace mcr::codecs::entropy {
namespace {

std::uint32_t reverse_bits(std::uint32_t code, unsigned length) {
  std::uint32_t reversed = 0;
  for (unsigned i = 0; i < length; ++i) reversed |= (code >> i & 1U) << (length - 1 - i);
  return reversed;
}

MCR_INLINE_LOOP std::uint8_t* encode_stream_loop(const std::uint32_t* code,
                                                 const std::uint8_t* symbol, std::size_t count,
                                                 std::uint8_t* out) {
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

using EncodeStream = std::uint8_t* (*)(const std::uint32_t*, const std::uint8_t*, std::size_t,
                                       std::uint8_t*);

std::uint8_t* encode_stream(const std::uint32_t* code, const std::uint8_t* symbol,
                            std::size_t count, std::uint8_t* out) {
  return encode_stream_loop(code, symbol, count, out);
}
#if MCR_HAVE_AVX2
MCR_AVX2_TARGET std::uint8_t* encode_stream_avx2(const std::uint32_t* code,
                                                 const std::uint8_t* symbol, std::size_t count,
                                                 std::uint8_t* out) {
  return encode_stream_loop(code, symbol, count, out);
}
#endif

EncodeStream best_encode_stream() {
#if MCR_HAVE_AVX2
  if (cpu::has_avx2()) return encode_stream_avx2;
#endif
  return encode_stream;
}

}  // namespace

CodeLengths huffman_lengths(const Histogram& histogram) {
  struct Node {
    std::uint64_t weight;
    std::uint16_t parent;
    std::uint16_t symbol;
  };
  Node nodes[512];
  std::size_t leaves = 0;
  for (unsigned s = 0; s < 256; ++s) {
    if (histogram.count[s] != 0) {
      nodes[leaves++] = {histogram.count[s], 0, static_cast<std::uint16_t>(s)};
    }
  }
  std::sort(nodes, nodes + leaves, [](const Node& a, const Node& b) {
    return a.weight != b.weight ? a.weight < b.weight : a.symbol < b.symbol;
  });
  // Leaves by rising weight in one queue, inner nodes in another: they are made by rising weight
  // too.
  std::size_t leaf = 0;
  std::size_t inner = leaves;
  std::size_t made = leaves;
  const auto lightest = [&] {
    const bool take_leaf =
        inner == made || (leaf < leaves && nodes[leaf].weight <= nodes[inner].weight);
    return take_leaf ? leaf++ : inner++;
  };
  while (made < 2 * leaves - 1) {
    const std::size_t a = lightest();
    const std::size_t b = lightest();
    nodes[made] = {nodes[a].weight + nodes[b].weight, 0, 0};
    nodes[a].parent = nodes[b].parent = static_cast<std::uint16_t>(made);
    ++made;
  }
  // Depths from the root down, as numbers of leaves at each; what is deeper than the limit is cut,
  // and the excess in the Kraft sum paid back by lengthening the deepest of the shorter codes.
  std::uint16_t depth[512];
  depth[made - 1] = 0;
  unsigned leaves_at[huffman_bits + 1] = {};
  for (std::size_t i = made - 1; i-- > 0;) {
    depth[i] = static_cast<std::uint16_t>(depth[nodes[i].parent] + 1);
    if (i < leaves) ++leaves_at[std::min<unsigned>(depth[i], huffman_bits)];
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
  // A cut can overshoot by a few units: shorten the longest codes that fit.
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
    lengths.length[nodes[i].symbol] = static_cast<std::uint16_t>(length);
  }
  return lengths;
}

HuffmanEncoder::HuffmanEncoder(const CodeLengths& lengths) {
  std::uint32_t next = 0;
  std::fill(std::begin(code_), std::end(code_), 0);
  for (unsigned length = 1; length <= huffman_bits; ++length, next <<= 1) {
    for (unsigned s = 0; s < 256; ++s) {
      if (lengths.length[s] == length) code_[s] = reverse_bits(next++, length) | length << 16;
    }
  }
}

std::size_t HuffmanEncoder::encode_segment(Symbols symbols, std::uint8_t* directory,
                                           std::uint8_t* out) const {
  const EncodeStream encode = best_encode_stream();
  std::uint8_t* const start = out;
  for (std::size_t stream = 0; stream < stream_count; ++stream) {
    const std::size_t first = stream_start(symbols.size(), stream);
    const std::size_t count = stream_start(symbols.size(), stream + 1) - first;
    std::uint8_t* const end = encode(code_, symbols.data() + first, count, out);
    store(directory + 2 * stream, little_endian(static_cast<std::uint16_t>(end - out)));
    out = end;
  }
  return static_cast<std::size_t>(out - start);
}

}  // namespace mcr::codecs::entropy
