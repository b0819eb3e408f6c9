// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "codecs/entropy/block_format.hpp"
#include "codecs/entropy/entropy.hpp"
#include "codecs/entropy/huffman.hpp"
#include "codecs/entropy/number_table.hpp"
#include "codecs/entropy/tans.hpp"

namespace mcr::codecs::entropy {
namespace {

template <typename Decoder>
bool decode_segments(const Decoder& decoder, ByteSpan stored, MutableSymbols symbols) {
  const std::size_t segments = segments_of(symbols.size());
  if (stored.size() / directory_bytes < segments) return false;
  const auto* directory = reinterpret_cast<const std::uint8_t*>(stored.data());
  const std::uint8_t* at = directory + segments * directory_bytes;
  const std::uint8_t* const end = directory + stored.size();
  for (std::size_t first = 0; first < symbols.size(); first += segment_symbols) {
    BitStream streams[stream_count];
    for (BitStream& stream : streams) {
      const std::uint16_t length = little_endian(load<std::uint16_t>(directory));
      directory += 2;
      if (end - at < length) return false;
      stream = {at, at + length, 0};
      at += length;
    }
    if (!decoder.decode_segment(
            streams, end,
            symbols.subspan(first, std::min(segment_symbols, symbols.size() - first)))) {
      return false;
    }
  }
  return at == end;
}

}  // namespace

bool decode_block(ByteSpan block, MutableSymbols symbols) {
  if (block.empty()) return false;
  const auto mode = static_cast<Mode>(block[0]);
  if (mode == Mode::raw) {
    if (block.size() != symbols.size() + 1) return false;
    if (!symbols.empty()) std::memcpy(symbols.data(), block.data() + 1, symbols.size());
    return true;
  }
  if (block.size() < 2) return false;
  const auto second = std::to_integer<std::uint8_t>(block[1]);
  if (mode == Mode::constant) {
    if (block.size() != 2) return false;
    std::fill(symbols.begin(), symbols.end(), second);
    return true;
  }
  if (mode == Mode::huffman) {
    CodeLengths lengths;
    const ByteSpan stored = block.subspan(2);
    const std::size_t table =
        read_number_table(stored, std::span(lengths.length).first(std::size_t{second} + 1));
    if (table == 0) return false;
    const ByteSpan streams = stored.subspan(table);
    // Decoding two symbols in a step pays off if two codes mostly fit into a table index.
    const bool pairs = symbols.size() >= 4096 && streams.size() < symbols.size() / 8 * 5;
    HuffmanDecoder decoder;
    return decoder.prepare(lengths, pairs) && decode_segments(decoder, streams, symbols);
  }
  if (mode == Mode::tans) {
    if (block.size() < 3) return false;
    StateCounts counts;
    counts.bits = std::to_integer<std::uint8_t>(block[2]);
    const ByteSpan stored = block.subspan(3);
    const std::size_t table =
        read_number_table(stored, std::span(counts.states).first(std::size_t{second} + 1));
    if (table == 0) return false;
    TansDecoder decoder;
    return decoder.prepare(counts) && decode_segments(decoder, stored.subspan(table), symbols);
  }
  return false;
}

}  // namespace mcr::codecs::entropy
