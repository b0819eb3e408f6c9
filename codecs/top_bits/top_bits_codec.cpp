// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/top_bits/top_bits_codec.hpp"

#include "codecs/base/parameter_text.hpp"
#include "codecs/entropy/entropy.hpp"
#include "codecs/top_bits/top_bits.hpp"

namespace mcr::codecs {
namespace {

constexpr unsigned default_mantissa_bits = 2;
constexpr unsigned most_mantissa_bits = 4;
constexpr unsigned smallest_flag = 0x10;

// Byte form: one byte with the mantissa bits in the low four bits, plus 16 for the method
// `smallest`; empty for the default (2, Huffman).
struct Parameters {
  unsigned mantissa_bits = default_mantissa_bits;
  entropy::Method method = entropy::Method::huffman;
};

Result<Parameters> read_parameters(ByteSpan bytes) {
  Parameters parameters;
  if (bytes.empty()) return parameters;
  const auto byte = std::to_integer<unsigned>(bytes[0]);
  parameters.mantissa_bits = byte & 15;
  if ((byte & smallest_flag) != 0) parameters.method = entropy::Method::smallest;
  if (bytes.size() > 1 || byte > smallest_flag + 15 ||
      parameters.mantissa_bits > most_mantissa_bits) {
    return Error{Cause::usage,
                 "top_bits: the parameter is not one byte with 0 to 4 mantissa bits and the flag "
                 "16 (smallest)"};
  }
  return parameters;
}

Result<unsigned> key_bits_of(const Layout& layout, const Parameters& parameters) {
  if (layout.type.kind != ElementKind::floating) {
    return Error{Cause::usage, "top_bits: takes floating-point numbers"};
  }
  return sign_exponent_bits(layout.type.size) + parameters.mantissa_bits;
}

void write_table(const TopBitsTable& table, std::size_t size, Writer& out) {
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

Result<TopBitsTable> read_table(Reader& in, std::size_t size, unsigned key_bits) {
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

class TopBitsCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(key_bits_of(in, MCR_TRY(read_parameters(parameters))));
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::numbers; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameter_bytes,
                      Scratch& scratch, Bytes& out) const override {
    const Parameters parameters = MCR_TRY(read_parameters(parameter_bytes));
    const unsigned key_bits = MCR_TRY(key_bits_of(layout, parameters));
    const std::size_t size = layout.type.size;
    const std::size_t count = raw.size() / size;
    const auto counts = scratch.take<std::uint32_t>(std::size_t{1} << key_bits);
    const TopBitsTable table = top_bits_table(size, key_bits, raw.data(), count, counts.data());
    const auto map = scratch.take<std::uint16_t>(std::size_t{1} << key_bits);
    const auto symbols = scratch.take<std::uint8_t>(count);
    const auto rest = scratch.take<std::byte>(top_bits_rest_bound(size, count));
    const auto block = scratch.take<std::byte>(entropy::block_bound(count));
    const std::size_t rest_bytes =
        top_bits_encode(size, table, raw.data(), count, map.data(), symbols.data(), rest.data());
    const std::size_t block_bytes =
        entropy::encode_block(symbols.span(), parameters.method, block.span());
    Writer writer(out);
    write_table(table, size, writer);
    writer.varint(block_bytes);
    writer.bytes(block.span().first(block_bytes));
    writer.bytes(rest.span().first(rest_bytes));
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameter_bytes,
                      Scratch& scratch, MutableByteSpan raw) const override {
    const Parameters parameters = MCR_TRY(read_parameters(parameter_bytes));
    const unsigned key_bits = MCR_TRY(key_bits_of(layout, parameters));
    const std::size_t size = layout.type.size;
    const std::size_t count = raw.size() / size;
    Reader in(stored);
    const TopBitsTable table = MCR_TRY(read_table(in, size, key_bits));
    const ByteSpan block = MCR_TRY(in.bytes(MCR_TRY(in.varint())));
    const ByteSpan rest = MCR_TRY(in.bytes(in.remaining()));
    const auto symbols = scratch.take<std::uint8_t>(count);
    if (!entropy::decode_block(block, symbols.span()) ||
        !top_bits_decode(size, table, symbols.data(), count, rest, raw.data())) {
      return Error{Cause::damaged, "top_bits: the payload is damaged"};
    }
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    Parameters parameters;
    while (!text.empty()) {
      const std::string_view word = next_word(text);
      if (word == "smallest") {
        parameters.method = entropy::Method::smallest;
      } else {
        parameters.mantissa_bits = static_cast<unsigned>(MCR_TRY(
            number_in(word, 0, static_cast<int>(most_mantissa_bits), "top_bits: mantissa bits")));
      }
    }
    const bool smallest = parameters.method == entropy::Method::smallest;
    if (!smallest && parameters.mantissa_bits == default_mantissa_bits) return Bytes{};
    return Bytes{static_cast<std::byte>(parameters.mantissa_bits | (smallest ? smallest_flag : 0))};
  }
  std::string print(ByteSpan bytes) const override {
    const auto parameters = read_parameters(bytes);
    if (!parameters) return "?";
    std::string text = std::to_string(parameters->mantissa_bits);
    if (parameters->method == entropy::Method::smallest) text += ",smallest";
    return text;
  }
};

constinit const TopBitsCodec codec;

}  // namespace

const Codec& top_bits_codec() { return codec; }

}  // namespace mcr::codecs
