// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/fpzip/fpzip_codec.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "codecs/base/parameter_text.hpp"
#include "codecs/fpzip/fpzip_library.hpp"
#include "codecs/fpzip/fpzip_trust.hpp"

namespace mcr::codecs {
namespace {

constexpr std::byte flat_parameter{1};

// fpzip does not know where its stream ends. A value takes at most its own bits, 16 bits for the
// symbol of its size, and 16 bits if the range coder's interval is cut short. Before a stream is
// decoded, this many bytes per value are added after it, so that even a damaged stream is not read
// beyond them.
constexpr std::size_t value_bytes_at_most = 16;
constexpr std::size_t spare_bytes = 1024;

Result<bool> is_flat(ByteSpan parameters) {
  if (parameters.empty()) return false;
  if (parameters.size() != 1 || parameters[0] != flat_parameter) {
    return Error{Cause::usage, "fpzip: the parameter is not the one byte 1 (1d)"};
  }
  return true;
}

void set_shape(FpzipStream& stream, const Layout& layout, const Shape& shape) {
  stream.type = layout.type.size == 8 ? fpzip_double : fpzip_float;
  stream.precision = 0;  // all bits
  std::array<int, Shape::max_rank> fastest_first{1, 1, 1, 1};
  for (std::size_t axis = 0; axis < shape.rank; ++axis) {
    fastest_first[shape.rank - 1 - axis] = static_cast<int>(shape.extent[axis]);
  }
  stream.nx = fastest_first[0];
  stream.ny = fastest_first[1];
  stream.nz = fastest_first[2];
  stream.nf = fastest_first[3];
}

/// Returns the bricks for fpzip: with their own shapes, or all elements as one line.
std::vector<Shape> shapes_of(const Layout& layout, bool flat) {
  if (!flat) return layout.bricks;
  return {Shape::flat(static_cast<std::uint32_t>(layout.count()))};
}

class FpzipCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(is_flat(parameters));
    if (in.type.kind != ElementKind::floating || (in.type.size != 4 && in.type.size != 8)) {
      return Error{Cause::usage, "fpzip: takes float and double only"};
    }
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::numbers; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters, Scratch& scratch,
                      Bytes& out) const override {
    const FpzipLibrary& library = *MCR_TRY(fpzip_library());
    Writer writer(out);
    writer.u8(library.arithmetic);
    std::size_t position = 0;
    for (const Shape& shape : shapes_of(layout, MCR_TRY(is_flat(parameters)))) {
      const std::size_t bytes = static_cast<std::size_t>(shape.count()) * layout.type.size;
      if (bytes == 0) continue;
      const auto aligned = scratch.take<std::byte>(bytes);
      std::memcpy(aligned.data(), raw.data() + position, bytes);
      const auto coded = scratch.take<std::byte>(bytes + bytes / 4 + spare_bytes);
      FpzipStream* stream = library.write_to_buffer(coded.data(), coded.span().size());
      if (stream == nullptr) return Error{Cause::system, "fpzip: not enough memory for a stream"};
      set_shape(*stream, layout, shape);
      const std::size_t size = library.write(stream, aligned.data());
      library.write_close(stream);
      if (size == 0) return Error{Cause::usage, "fpzip: the data does not become smaller"};
      writer.varint(size);
      writer.bytes(coded.span().first(size));
      position += bytes;
    }
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameters, Scratch& scratch,
                      MutableByteSpan raw) const override {
    MCR_TRY(ask_judge());
    const FpzipLibrary& library = *MCR_TRY(fpzip_library());
    Reader in(stored);
    const std::uint8_t arithmetic = MCR_TRY(in.u8());
    if (arithmetic != library.arithmetic) {
      return Error{Cause::unsupported, "fpzip: written by a library of arithmetic " +
                                           std::to_string(arithmetic) + ", the one here has " +
                                           std::to_string(library.arithmetic)};
    }
    std::size_t position = 0;
    for (const Shape& shape : shapes_of(layout, MCR_TRY(is_flat(parameters)))) {
      const auto count = static_cast<std::size_t>(shape.count());
      const std::size_t bytes = count * layout.type.size;
      if (bytes == 0) continue;
      const ByteSpan coded = MCR_TRY(in.bytes(MCR_TRY(in.varint())));
      const auto padded =
          scratch.take<std::byte>(coded.size() + count * value_bytes_at_most + spare_bytes);
      std::memcpy(padded.data(), coded.data(), coded.size());
      std::ranges::fill(padded.span().subspan(coded.size()), std::byte{0});
      const auto aligned = scratch.take<std::byte>(bytes);
      FpzipStream* stream = library.read_from_buffer(padded.data());
      if (stream == nullptr) return Error{Cause::system, "fpzip: not enough memory for a stream"};
      set_shape(*stream, layout, shape);
      const std::size_t used = library.read(stream, aligned.data());
      library.read_close(stream);
      if (used == 0 || used > coded.size())
        return Error{Cause::damaged, "fpzip: the stream is damaged"};
      std::memcpy(raw.data() + position, aligned.data(), bytes);
      position += bytes;
    }
    if (in.remaining() != 0) return Error{Cause::damaged, "fpzip: bytes follow the last stream"};
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    if (text == "1d") return Bytes{flat_parameter};
    return Error{Cause::usage, "fpzip: unknown parameter '" + std::string(text) + "'; known is 1d"};
  }
  std::string print(ByteSpan parameters) const override { return parameters.empty() ? "" : "1d"; }
};

constinit const FpzipCodec codec;

}  // namespace

const Codec& fpzip_codec() { return codec; }

}  // namespace mcr::codecs
