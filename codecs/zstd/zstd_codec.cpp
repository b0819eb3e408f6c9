// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/zstd/zstd_codec.hpp"

#include <zstd.h>

#include "codecs/base/parameter_text.hpp"

namespace mcr::codecs {
namespace {

constexpr int default_level = 3;
constexpr int lowest_level = -7;
constexpr int highest_level = 22;
constexpr int smallest_window_log = 10;
constexpr int largest_window_log = 30;  // a frame holds at most 2^30 bytes
constexpr int long_window_log = 27;

// Byte form: level as int8, then window log (0: zstd's own), then 1 for long-distance matching.
// Defaults at the end are omitted, so that the usual pipeline takes one byte.
struct Parameters {
  int level = default_level;
  int window_log = 0;
  bool long_distance = false;
};

Result<Parameters> read_parameters(ByteSpan bytes) {
  Parameters parameters;
  if (bytes.size() > 3)
    return Error{Cause::usage, "zstd: there are more than three parameters (level, window, long)"};
  if (!bytes.empty()) parameters.level = static_cast<std::int8_t>(bytes[0]);
  if (bytes.size() > 1) parameters.window_log = std::to_integer<int>(bytes[1]);
  if (bytes.size() > 2) parameters.long_distance = bytes[2] != std::byte{0};
  const bool window_known =
      parameters.window_log == 0 ||
      (parameters.window_log >= smallest_window_log && parameters.window_log <= largest_window_log);
  if (parameters.level < lowest_level || parameters.level > highest_level || !window_known) {
    return Error{Cause::usage,
                 "zstd: the parameters are not a level from -7 to 22 and, if given, a window of "
                 "2^10 to 2^30 bytes (0: zstd's own)"};
  }
  return parameters;
}

Bytes write_parameters(const Parameters& parameters) {
  Bytes bytes;
  if (parameters.level != default_level || parameters.window_log != 0 || parameters.long_distance) {
    bytes.push_back(static_cast<std::byte>(parameters.level));
  }
  if (parameters.window_log != 0 || parameters.long_distance) {
    bytes.push_back(static_cast<std::byte>(parameters.window_log));
  }
  if (parameters.long_distance) bytes.push_back(std::byte{1});
  return bytes;
}

Error out_of_memory() {
  return {Cause::system, "zstd: not enough memory for the library's context"};
}

class ZstdCodec final : public Codec {
 public:
  Result<Layout> output(const Layout&, ByteSpan parameters) const override {
    MCR_TRY(read_parameters(parameters));
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout&, ByteSpan parameter_bytes, Scratch& scratch,
                      Bytes& out) const override {
    const Parameters parameters = MCR_TRY(read_parameters(parameter_bytes));
    ZSTD_CCtx* context = scratch.context<ZSTD_createCCtx, ZSTD_freeCCtx>();
    if (context == nullptr) return out_of_memory();
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, parameters.level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, parameters.window_log);
    ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, parameters.long_distance);
    // The frame around these bytes has its own size and checksums.
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
    const std::size_t begin = out.size();
    out.resize(begin + ZSTD_compressBound(raw.size()));
    const std::size_t size =
        ZSTD_compress2(context, out.data() + begin, out.size() - begin, raw.data(), raw.size());
    if (ZSTD_isError(size) != 0) {
      out.resize(begin);
      return Error{Cause::system, std::string("zstd: ") + ZSTD_getErrorName(size)};
    }
    out.resize(begin + size);
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout&, ByteSpan, Scratch& scratch,
                      MutableByteSpan raw) const override {
    ZSTD_DCtx* context = scratch.context<ZSTD_createDCtx, ZSTD_freeDCtx>();
    if (context == nullptr) return out_of_memory();
    const std::size_t size =
        ZSTD_decompressDCtx(context, raw.data(), raw.size(), stored.data(), stored.size());
    if (ZSTD_isError(size) != 0) {
      return Error{Cause::damaged, std::string("zstd: ") + ZSTD_getErrorName(size)};
    }
    if (size != raw.size()) return Error{Cause::damaged, "zstd: the frame holds too few bytes"};
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    Parameters parameters;
    while (!text.empty()) {
      const std::string_view word = next_word(text);
      if (word == "long") {
        parameters.long_distance = true;
        if (parameters.window_log == 0) parameters.window_log = long_window_log;
      } else if (word.starts_with("window=")) {
        parameters.window_log = MCR_TRY(
            number_in(word.substr(7), smallest_window_log, largest_window_log, "zstd: window"));
      } else {
        parameters.level = MCR_TRY(number_in(word, lowest_level, highest_level, "zstd: level"));
      }
    }
    return write_parameters(parameters);
  }

  std::string print(ByteSpan bytes) const override {
    const auto read = read_parameters(bytes);
    if (!read) return "?";
    std::string text = std::to_string(read->level);
    if (read->long_distance) text += ",long";
    if (read->window_log != (read->long_distance ? long_window_log : 0)) {
      text += ",window=" + std::to_string(read->window_log);
    }
    return text;
  }
};

constinit const ZstdCodec codec;

}  // namespace

const Codec& zstd_codec() { return codec; }

}  // namespace mcr::codecs
