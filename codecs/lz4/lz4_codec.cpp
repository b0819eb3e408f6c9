// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/lz4/lz4_codec.hpp"

#include <lz4.h>
#include <lz4hc.h>

#include "codecs/base/parameter_text.hpp"

namespace mcr::codecs {
namespace {

constexpr int fast_level = 0;
constexpr int lowest_high_level = LZ4HC_CLEVEL_MIN;
constexpr int highest_level = LZ4HC_CLEVEL_MAX;

void* make_state() { return ::operator new(static_cast<std::size_t>(LZ4_sizeofState())); }
void* make_high_state() { return ::operator new(static_cast<std::size_t>(LZ4_sizeofStateHC())); }
void end_state(void* state) { ::operator delete(state); }
void end_high_state(void* state) { ::operator delete(state); }

const char* as_lz4(const std::byte* bytes) { return reinterpret_cast<const char*>(bytes); }
char* as_lz4(std::byte* bytes) { return reinterpret_cast<char*>(bytes); }

Result<int> level_of(ByteSpan parameters) {
  if (parameters.empty()) return fast_level;
  const int level = std::to_integer<int>(parameters[0]);
  if (parameters.size() > 1 || level > highest_level ||
      (level != fast_level && level < lowest_high_level)) {
    return Error{Cause::usage, "lz4: the parameter is not one byte with the level 0 or " +
                                   std::to_string(lowest_high_level) + " to " +
                                   std::to_string(highest_level)};
  }
  return level;
}

class Lz4Codec final : public Codec {
 public:
  Result<Layout> output(const Layout&, ByteSpan parameters) const override {
    MCR_TRY(level_of(parameters));
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout&, ByteSpan parameters, Scratch& scratch,
                      Bytes& out) const override {
    const int level = MCR_TRY(level_of(parameters));
    const std::size_t begin = out.size();
    const int raw_size = static_cast<int>(raw.size());
    const int bound = LZ4_compressBound(raw_size);
    out.resize(begin + static_cast<std::size_t>(bound));
    char* to = as_lz4(out.data() + begin);
    int size = 0;
    if (level == fast_level) {
      void* state = scratch.context<make_state, end_state>();
      size = LZ4_compress_fast_extState(state, as_lz4(raw.data()), to, raw_size, bound, 1);
    } else {
      void* state = scratch.context<make_high_state, end_high_state>();
      size = LZ4_compress_HC_extStateHC(state, as_lz4(raw.data()), to, raw_size, bound, level);
    }
    out.resize(begin + static_cast<std::size_t>(size));
    if (size <= 0) return Error{Cause::system, "lz4: the library could not encode the block"};
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout&, ByteSpan, Scratch&,
                      MutableByteSpan raw) const override {
    if (stored.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      return Error{Cause::damaged, "lz4: the block is too long"};
    }
    const int size =
        LZ4_decompress_safe(as_lz4(stored.data()), as_lz4(raw.data()),
                            static_cast<int>(stored.size()), static_cast<int>(raw.size()));
    if (size < 0 || static_cast<std::size_t>(size) != raw.size()) {
      return Error{Cause::damaged, "lz4: the block is damaged or of another size"};
    }
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    const int level =
        MCR_TRY(number_in(next_word(text), lowest_high_level, highest_level, "lz4: level"));
    if (!text.empty()) return Error{Cause::usage, "lz4: takes a level only"};
    return Bytes{static_cast<std::byte>(level)};
  }
  std::string print(ByteSpan parameters) const override {
    const auto level = level_of(parameters);
    if (!level) return "?";
    return *level == fast_level ? "" : std::to_string(*level);
  }
};

constinit const Lz4Codec codec;

}  // namespace

const Codec& lz4_codec() { return codec; }

}  // namespace mcr::codecs
