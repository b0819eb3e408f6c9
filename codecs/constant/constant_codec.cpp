// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/constant/constant_codec.hpp"

#include "codecs/constant/constant.hpp"

namespace mcr::codecs {
namespace {

class ConstantCodec final : public Codec {
 public:
  Result<Layout> output(const Layout&, ByteSpan parameters) const override {
    if (!parameters.empty()) return Error{Cause::usage, "constant: takes no parameters"};
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan, Scratch&,
                      Bytes& out) const override {
    const std::size_t size = layout.type.size;
    if (!is_constant(raw.data(), raw.size() / size, size)) {
      return Error{Cause::usage, "constant: the elements differ"};
    }
    if (!raw.empty()) Writer(out).bytes(raw.first(size));
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan, Scratch&,
                      MutableByteSpan raw) const override {
    const std::size_t size = layout.type.size;
    if (stored.size() != (raw.empty() ? 0 : size))
      return Error{Cause::damaged, "constant: the stored bytes are not one element"};
    constant_decode(stored.data(), size, raw.size() / size, raw.data());
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    return Error{Cause::usage, "constant: takes no parameters"};
  }
  std::string print(ByteSpan) const override { return ""; }
};

constinit const ConstantCodec codec;

}  // namespace

const Codec& constant_codec() { return codec; }

}  // namespace mcr::codecs
