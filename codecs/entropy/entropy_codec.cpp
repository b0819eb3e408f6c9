// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/entropy/entropy_codec.hpp"

#include "codecs/entropy/entropy.hpp"
#include "codecs/entropy/method_parameter.hpp"

namespace mcr::codecs {
namespace {

constexpr const char* name = "entropy";

class EntropyCodec final : public Codec {
 public:
  Result<Layout> output(const Layout&, ByteSpan parameters) const override {
    MCR_TRY(entropy::read_method(parameters, name));
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout&, ByteSpan parameters, Scratch& scratch,
                      Bytes& out) const override {
    const entropy::Method method = MCR_TRY(entropy::read_method(parameters, name));
    const auto block = scratch.take<std::byte>(entropy::block_bound(raw.size()));
    const entropy::Symbols symbols(reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size());
    const std::size_t length = entropy::encode_block(symbols, method, block.span());
    Writer(out).bytes(block.span().first(length));
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout&, ByteSpan, Scratch&,
                      MutableByteSpan raw) const override {
    const entropy::MutableSymbols symbols(reinterpret_cast<std::uint8_t*>(raw.data()), raw.size());
    if (!entropy::decode_block(stored, symbols))
      return Error{Cause::damaged, "entropy: damaged block"};
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    return entropy::parse_method(text, name);
  }
  std::string print(ByteSpan parameters) const override {
    return entropy::print_method(parameters);
  }
};

constinit const EntropyCodec codec;

}  // namespace

const Codec& entropy_codec() { return codec; }

}  // namespace mcr::codecs
