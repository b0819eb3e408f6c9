// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/zlib/zlib_codec.hpp"

#include <zlib.h>

#include "codecs/base/parameter_text.hpp"

namespace mcr::codecs {
namespace {

constexpr int default_level = 6;

// zlib's streams are large, so one stream of each kind is kept and reset for the next frame. Frames
// hold at most 2^30 bytes, so zlib's 32-bit counts are sufficient.
struct Deflater {
  z_stream stream{};
  int level = 0;  // of the stream; 0: not made yet
};
Deflater* make_deflater() { return new Deflater; }
void end_deflater(Deflater* deflater) {
  if (deflater->level != 0) deflateEnd(&deflater->stream);
  delete deflater;
}

z_stream* make_inflater() {
  auto* stream = new z_stream{};
  if (inflateInit(stream) == Z_OK) return stream;
  delete stream;
  return nullptr;
}
void end_inflater(z_stream* stream) {
  inflateEnd(stream);
  delete stream;
}

Error out_of_memory() { return {Cause::system, "zlib: not enough memory for the library's state"}; }

Bytef* as_zlib(const std::byte* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes));
}

Result<int> level_of(ByteSpan parameters) {
  if (parameters.empty()) return default_level;
  const int level = std::to_integer<int>(parameters[0]);
  if (parameters.size() > 1 || level < 1 || level > 9) {
    return Error{Cause::usage, "zlib: the parameter is not one byte with a level from 1 to 9"};
  }
  return level;
}

Result<z_stream*> deflater_of(Scratch& scratch, int level) {
  Deflater* deflater = scratch.context<make_deflater, end_deflater>();
  if (deflater->level == level) {
    deflateReset(&deflater->stream);
    return &deflater->stream;
  }
  if (deflater->level != 0) deflateEnd(&deflater->stream);
  deflater->stream = z_stream{};
  deflater->level = 0;
  if (deflateInit(&deflater->stream, level) != Z_OK) return out_of_memory();
  deflater->level = level;
  return &deflater->stream;
}

class ZlibCodec final : public Codec {
 public:
  Result<Layout> output(const Layout&, ByteSpan parameters) const override {
    MCR_TRY(level_of(parameters));
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout&, ByteSpan parameters, Scratch& scratch,
                      Bytes& out) const override {
    z_stream* stream = MCR_TRY(deflater_of(scratch, MCR_TRY(level_of(parameters))));
    const std::size_t begin = out.size();
    out.resize(begin + deflateBound(stream, raw.size()));
    stream->next_in = as_zlib(raw.data());
    stream->avail_in = static_cast<uInt>(raw.size());
    stream->next_out = as_zlib(out.data() + begin);
    stream->avail_out = static_cast<uInt>(out.size() - begin);
    const int status = deflate(stream, Z_FINISH);
    out.resize(begin + (status == Z_STREAM_END ? stream->total_out : 0));
    if (status != Z_STREAM_END)
      return Error{Cause::system, "zlib: the library could not encode the stream"};
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout&, ByteSpan, Scratch& scratch,
                      MutableByteSpan raw) const override {
    z_stream* stream = scratch.context<make_inflater, end_inflater>();
    if (stream == nullptr) return out_of_memory();
    inflateReset(stream);
    std::byte nowhere{};  // zlib needs an address even for an empty output
    stream->next_in = as_zlib(stored.data());
    stream->avail_in = static_cast<uInt>(stored.size());
    stream->next_out = as_zlib(raw.empty() ? &nowhere : raw.data());
    stream->avail_out = static_cast<uInt>(raw.size());
    const int status = inflate(stream, Z_FINISH);
    if (status != Z_STREAM_END || stream->total_out != raw.size()) {
      return Error{Cause::damaged, "zlib: the stream is damaged or of another size"};
    }
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    const int level = MCR_TRY(number_in(next_word(text), 1, 9, "zlib: level"));
    if (!text.empty()) return Error{Cause::usage, "zlib: takes a level only"};
    return level == default_level ? Bytes{} : Bytes{static_cast<std::byte>(level)};
  }
  std::string print(ByteSpan parameters) const override {
    const auto level = level_of(parameters);
    return level ? std::to_string(*level) : "?";
  }
};

constinit const ZlibCodec codec;

}  // namespace

const Codec& zlib_codec() { return codec; }

}  // namespace mcr::codecs
