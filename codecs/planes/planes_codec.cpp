// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/planes/planes_codec.hpp"

#include "codecs/base/parameter_text.hpp"
#include "codecs/entropy/entropy.hpp"
#include "codecs/planes/plane_choice.hpp"
#include "codecs/planes/plane_parameters.hpp"
#include "codecs/transpose/transpose.hpp"

namespace mcr::codecs {
namespace {

using Parameters = PlanesParameters;

/// Appends one plane: a varint of twice the length, plus one for zstd; then the bytes.
Result<void> encode_plane(ByteSpan plane, const Parameters& parameters, Scratch& scratch,
                          Bytes& out) {
  const entropy::Symbols symbols(reinterpret_cast<const std::uint8_t*>(plane.data()), plane.size());
  const entropy::Histogram histogram = entropy::count_symbols(symbols);
  const std::size_t expected = entropy::estimate_block(histogram, parameters.method);
  Writer writer(out);
  if (parameters.level != 0 && plane.size() >= 64 && expected > 2 &&
      MCR_TRY(repeats_pay(plane, expected, parameters.method, parameters.level, scratch))) {
    const auto matched = scratch.take_vector();
    MCR_TRY(encode_repeats(plane, parameters.level, scratch, *matched));
    if (matched->size() < expected) {  // the plane may compress worse than the sample
      writer.varint(matched->size() * 2 + 1);
      writer.bytes(*matched);
      return {};
    }
  }
  const auto block = scratch.take<std::byte>(entropy::block_bound(plane.size()));
  const std::size_t length =
      entropy::encode_block(symbols, histogram, parameters.method, block.span());
  writer.varint(length * 2);
  writer.bytes(block.span().first(length));
  return {};
}

class PlanesCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(read_planes_parameters(parameters));
    if (in.type.size > largest_plane_element) {
      return Error{Cause::usage, "planes: takes elements of up to 64 bytes"};
    }
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameter_bytes,
                      Scratch& scratch, Bytes& out) const override {
    const Parameters parameters = MCR_TRY(read_planes_parameters(parameter_bytes));
    const std::size_t size = layout.type.size;
    const std::size_t count = raw.size() / size;
    const auto planes = scratch.take<std::byte>(size > 1 ? raw.size() : 0);
    ByteSpan all = raw;
    if (size > 1) {
      transpose_encode(raw.data(), count, size, planes.data());
      all = planes.span();
    }
    for (std::size_t b = 0; b < size; ++b) {
      MCR_TRY(encode_plane(all.subspan(b * count, count), parameters, scratch, out));
    }
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan, Scratch& scratch,
                      MutableByteSpan raw) const override {
    const std::size_t size = layout.type.size;
    const std::size_t count = raw.size() / size;
    const auto planes = scratch.take<std::byte>(size > 1 ? raw.size() : 0);
    const MutableByteSpan all = size > 1 ? planes.span() : raw;
    Reader in(stored);
    for (std::size_t b = 0; b < size; ++b) {
      const std::uint64_t head = MCR_TRY(in.varint());
      const ByteSpan bytes = MCR_TRY(in.bytes(head / 2));
      const MutableByteSpan plane = all.subspan(b * count, count);
      if (head % 2 != 0) {
        MCR_TRY(decode_repeats(bytes, scratch, plane));
      } else if (!entropy::decode_block(
                     bytes, {reinterpret_cast<std::uint8_t*>(plane.data()), plane.size()})) {
        return Error{Cause::damaged, "planes: a block is damaged"};
      }
    }
    if (in.remaining() != 0) return Error{Cause::damaged, "planes: bytes follow the last plane"};
    if (size > 1) transpose_decode(planes.data(), count, size, raw.data());
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    Parameters parameters;
    while (!text.empty()) {
      const std::string_view word = next_word(text);
      if (word == "smallest") {
        parameters.method = entropy::Method::smallest;
      } else if (word.starts_with("zstd=")) {
        parameters.level =
            MCR_TRY(number_in(word.substr(5), 0, highest_plane_level, "planes: level"));
      } else {
        return Error{Cause::usage,
                     "planes: '" + std::string(word) + "' is none of: smallest, zstd=0 to zstd=19"};
      }
    }
    const bool smallest = parameters.method == entropy::Method::smallest;
    if (!smallest && parameters.level == default_plane_level) return Bytes{};
    return Bytes{static_cast<std::byte>(parameters.level | (smallest ? 0x80 : 0))};
  }
  std::string print(ByteSpan bytes) const override {
    const auto parameters = read_planes_parameters(bytes);
    if (!parameters) return "?";
    std::string text;
    if (parameters->method == entropy::Method::smallest) text = "smallest";
    if (parameters->level != default_plane_level) {
      text += (text.empty() ? "zstd=" : ",zstd=") + std::to_string(parameters->level);
    }
    return text;
  }
};

constinit const PlanesCodec codec;

}  // namespace

const Codec& planes_codec() { return codec; }

}  // namespace mcr::codecs
