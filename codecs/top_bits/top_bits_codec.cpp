// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/top_bits/top_bits_codec.hpp"

#include "codecs/base/parameter_text.hpp"
#include "codecs/entropy/entropy.hpp"
#include "codecs/top_bits/top_bits.hpp"
#include "codecs/top_bits/top_bits_format.hpp"

namespace mcr::codecs {
namespace {

using Parameters = TopBitsParameters;

class TopBitsCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(key_bits_of(in, MCR_TRY(read_top_bits_parameters(parameters))));
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::numbers; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameter_bytes,
                      Scratch& scratch, Bytes& out) const override {
    const Parameters parameters = MCR_TRY(read_top_bits_parameters(parameter_bytes));
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
    write_top_bits_table(table, size, writer);
    writer.varint(block_bytes);
    writer.bytes(block.span().first(block_bytes));
    writer.bytes(rest.span().first(rest_bytes));
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameter_bytes,
                      Scratch& scratch, MutableByteSpan raw) const override {
    const Parameters parameters = MCR_TRY(read_top_bits_parameters(parameter_bytes));
    const unsigned key_bits = MCR_TRY(key_bits_of(layout, parameters));
    const std::size_t size = layout.type.size;
    const std::size_t count = raw.size() / size;
    Reader in(stored);
    const TopBitsTable table = MCR_TRY(read_top_bits_table(in, size, key_bits));
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
    return Bytes{
        static_cast<std::byte>(parameters.mantissa_bits | (smallest ? top_bits_smallest_flag : 0))};
  }
  std::string print(ByteSpan bytes) const override {
    const auto parameters = read_top_bits_parameters(bytes);
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
