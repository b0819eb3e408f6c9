// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/class_coder/class_coder_codec.hpp"

#include "codecs/base/byte_order.hpp"
#include "codecs/class_coder/class_coder.hpp"
#include "codecs/entropy/method_parameter.hpp"

namespace mcr::codecs {
namespace {

constexpr const char* name = "class_coder";

class ClassCoderCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(entropy::read_method(parameters, name));
    if (!is_word_size(in.type.size)) {
      return Error{Cause::usage, "class_coder: takes elements of 1, 2, 4 or 8 bytes"};
    }
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::numbers; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters, Scratch& scratch,
                      Bytes& out) const override {
    const entropy::Method method = MCR_TRY(entropy::read_method(parameters, name));
    const std::size_t size = layout.type.size;
    const std::size_t count = raw.size() / size;
    const auto symbols = scratch.take<std::uint8_t>(count);
    const auto rest = scratch.take<std::byte>(class_rest_bound(size, count));
    const auto block = scratch.take<std::byte>(entropy::block_bound(count));
    const std::size_t rest_bytes =
        class_encode(size, raw.data(), count, symbols.data(), rest.data());
    const std::size_t block_bytes = entropy::encode_block(symbols.span(), method, block.span());
    Writer writer(out);
    writer.varint(block_bytes);
    writer.bytes(block.span().first(block_bytes));
    writer.bytes(rest.span().first(rest_bytes));
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan, Scratch& scratch,
                      MutableByteSpan raw) const override {
    Reader in(stored);
    const ByteSpan block = MCR_TRY(in.bytes(MCR_TRY(in.varint())));
    const ByteSpan rest = MCR_TRY(in.bytes(in.remaining()));
    const std::size_t size = layout.type.size;
    const std::size_t count = raw.size() / size;
    const auto symbols = scratch.take<std::uint8_t>(count);
    if (!entropy::decode_block(block, symbols.span()) ||
        !class_decode(size, symbols.data(), count, rest, raw.data())) {
      return Error{Cause::damaged, "class_coder: damaged payload"};
    }
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    return entropy::parse_method(text, name);
  }
  std::string print(ByteSpan parameters) const override {
    return entropy::print_method(parameters);
  }
};

constinit const ClassCoderCodec codec;

}  // namespace

const Codec& class_coder_codec() { return codec; }

}  // namespace mcr::codecs
