// SPDX-License-Identifier: BSD-3-Clause
// The parameters of the codec `top_bits`, and the bytes of its table.
#pragma once

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/entropy/entropy.hpp"
#include "codecs/top_bits/top_bits.hpp"

namespace mcr::codecs {

inline constexpr unsigned default_mantissa_bits = 2;
inline constexpr unsigned most_mantissa_bits = 4;
inline constexpr unsigned top_bits_smallest_flag = 0x10;

// Byte form: one byte with the mantissa bits in the low four bits, plus 16 for the method
// `smallest`; empty for the default (2, Huffman).
struct TopBitsParameters {
  unsigned mantissa_bits = default_mantissa_bits;
  entropy::Method method = entropy::Method::huffman;
};

inline Result<TopBitsParameters> read_top_bits_parameters(ByteSpan bytes) {
  TopBitsParameters parameters;
  if (bytes.empty()) return parameters;
  const auto byte = std::to_integer<unsigned>(bytes[0]);
  parameters.mantissa_bits = byte & 15;
  if ((byte & top_bits_smallest_flag) != 0) parameters.method = entropy::Method::smallest;
  if (bytes.size() > 1 || byte > top_bits_smallest_flag + 15 ||
      parameters.mantissa_bits > most_mantissa_bits) {
    return Error{Cause::usage,
                 "top_bits: the parameter is not one byte with 0 to 4 mantissa bits and the flag "
                 "16 (smallest)"};
  }
  return parameters;
}

inline Result<unsigned> key_bits_of(const Layout& layout, const TopBitsParameters& parameters) {
  if (layout.type.kind != ElementKind::floating) {
    return Error{Cause::usage, "top_bits: takes floating-point numbers"};
  }
  return sign_exponent_bits(layout.type.size) + parameters.mantissa_bits;
}

inline void write_top_bits_table(const TopBitsTable& table, std::size_t size, Writer& out) {
  out.u8(static_cast<std::uint8_t>(table.exact.size() | (table.escape ? 0x80U : 0U)));
  for (const std::uint64_t value : table.exact) {
    for (std::size_t b = 0; b < size; ++b) out.u8(static_cast<std::uint8_t>(value >> (8 * b)));
  }
  out.varint(table.keys.size());
  std::uint32_t next = 0;
  for (const std::uint32_t key : table.keys) {
    out.varint(key - next);
    next = key + 1;
  }
}

inline Result<TopBitsTable> read_top_bits_table(Reader& in, std::size_t size, unsigned key_bits) {
  TopBitsTable table;
  table.key_bits = key_bits;
  const std::uint8_t head = MCR_TRY(in.u8());
  table.escape = (head & 0x80) != 0;
  const std::size_t exact = head & 0x7fU;
  if (exact > TopBitsTable::most_exact)
    return Error{Cause::damaged, "top_bits: the table has too many exact values"};
  for (std::size_t i = 0; i < exact; ++i) {
    std::uint64_t value = 0;
    for (std::size_t b = 0; b < size; ++b) value |= std::uint64_t{MCR_TRY(in.u8())} << (8 * b);
    table.exact.push_back(value);
  }
  const std::uint64_t room = 256 - exact - (table.escape ? 1 : 0);
  const std::uint64_t keys = MCR_TRY(in.varint_at_most(room, "top_bits: number of keys"));
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < keys; ++i) {
    next += MCR_TRY(in.varint_at_most(1U << key_bits, "top_bits: key"));
    if (next >= 1U << key_bits) return Error{Cause::damaged, "top_bits: a key has too many bits"};
    table.keys.push_back(static_cast<std::uint32_t>(next++));
  }
  return table;
}

}  // namespace mcr::codecs
