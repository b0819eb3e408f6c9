// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/transpose/transpose_codec.hpp"

#include "codecs/base/parameter_text.hpp"
#include "codecs/transpose/transpose.hpp"

namespace mcr::codecs {
namespace {

constexpr std::size_t largest_size = 255;

Result<std::size_t> element_bytes_of(const Layout& layout, ByteSpan parameters) {
  if (parameters.empty()) return layout.type.size;
  if (parameters.size() > 1 || parameters[0] == std::byte{0}) {
    return Error{Cause::usage,
                 "transpose: the parameter is not one byte with an element size from 1 to 255"};
  }
  return std::to_integer<std::size_t>(parameters[0]);
}

class TransposeCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(element_bytes_of(in, parameters));
    // A frame holds at most 2^30 bytes, so the number of bytes fits into an extent.
    return Layout{{}, {Shape::flat(static_cast<std::uint32_t>(in.raw_bytes()))}};
  }
  bool changes_size() const override { return false; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters, Scratch&,
                      Bytes& out) const override {
    const std::size_t element_bytes = MCR_TRY(element_bytes_of(layout, parameters));
    const std::size_t count = raw.size() / element_bytes;
    const std::size_t begin = out.size();
    out.resize(begin + raw.size());
    transpose_encode(raw.data(), count, element_bytes, out.data() + begin);
    copy_rest(raw, count * element_bytes, std::span(out).subspan(begin));
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameters, Scratch&,
                      MutableByteSpan raw) const override {
    const std::size_t element_bytes = MCR_TRY(element_bytes_of(layout, parameters));
    if (stored.size() != raw.size())
      return Error{Cause::damaged,
                   "transpose: the stored bytes have another size than the raw bytes"};
    const std::size_t count = raw.size() / element_bytes;
    transpose_decode(stored.data(), count, element_bytes, raw.data());
    copy_rest(stored, count * element_bytes, raw);
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    const int size =
        MCR_TRY(number_in(next_word(text), 1, largest_size, "transpose: element size"));
    if (!text.empty()) return Error{Cause::usage, "transpose: takes an element size only"};
    return Bytes{static_cast<std::byte>(size)};
  }
  std::string print(ByteSpan parameters) const override {
    return parameters.empty() ? "" : std::to_string(std::to_integer<int>(parameters[0]));
  }

 private:
  static void copy_rest(ByteSpan from, std::size_t begin, MutableByteSpan to) {
    for (std::size_t i = begin; i < from.size(); ++i) to[i] = from[i];
  }
};

constinit const TransposeCodec codec;

}  // namespace

const Codec& transpose_codec() { return codec; }

}  // namespace mcr::codecs
