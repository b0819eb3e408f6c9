// SPDX-License-Identifier: BSD-3-Clause
// One symbol for each word: the number of the prediction, and the length of the difference to it.
// zstd packs the symbols and exploits their runs and repeats; the differences' low bits are stored
// unchanged.
#include <zstd.h>

#include <algorithm>
#include <vector>

#include "codecs/word_candidates/codings.hpp"
#include "codecs/word_candidates/raw_bits.hpp"

namespace mcr::codecs::words {
namespace {

template <typename T>
constexpr unsigned lengths = word_bits<T> + 1;  // 0 to 64 bits

template <typename T>
class FastEncoder final : public Encoder<T> {
 public:
  explicit FastEncoder(Numbers numbers) : numbers_(numbers) {}

  void brick(std::span<const T> words, const BrickPlan<T>& plan) override {
    const std::size_t begin = symbols_.size();
    symbols_.resize(begin + words.size());
    std::uint8_t* symbol = symbols_.data() + begin;
    Walk<T> walk(numbers_, plan.box, words.data());
    for (std::size_t i = 0; i < words.size(); ++i, walk.next()) {
      T best = difference(numbers_, words[i], walk.predict(plan.predictions[0]));
      unsigned best_length = bit_length(best);
      unsigned choice = 0;
      for (unsigned p = 1; p < plan.predictions.size() && best_length != 0; ++p) {
        const T other = difference(numbers_, words[i], walk.predict(plan.predictions[p]));
        const unsigned length = bit_length(other);
        // Another prediction than the last one costs bits, so it is taken only for a clear gain.
        if (length + 2 < best_length || length == 0) {
          best = other;
          best_length = length;
          choice = p;
        }
      }
      symbol[i] = static_cast<std::uint8_t>(choice * lengths<T> + best_length);
      if (best_length > 1) {
        raw_.put(static_cast<std::uint64_t>(best) & ((std::uint64_t{1} << (best_length - 1)) - 1),
                 best_length - 1);
      }
    }
  }

  Result<void> finish(int level, Scratch& scratch, Bytes& out) override {
    ZSTD_CCtx* context = scratch.context<ZSTD_createCCtx, ZSTD_freeCCtx>();
    if (context == nullptr)
      return Error{Cause::system, "zstd: not enough memory for the library's context"};
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
    const auto packed = scratch.take<std::byte>(ZSTD_compressBound(symbols_.size()));
    const std::size_t size = ZSTD_compress2(context, packed.data(), packed.span().size(),
                                            symbols_.data(), symbols_.size());
    if (ZSTD_isError(size) != 0) {
      return Error{Cause::system, std::string("zstd: ") + ZSTD_getErrorName(size)};
    }
    Writer writer(out);
    writer.u8(static_cast<std::uint8_t>(Coding::fast));
    writer.varint(size);
    writer.bytes(packed.span().first(size));
    writer.bytes(raw_.finish());
    return {};
  }

 private:
  Numbers numbers_;
  std::vector<std::uint8_t> symbols_;
  RawWriter raw_;
};

/// Returns how many symbols from `symbol` up to `end` equal the first one, without a gap.
inline std::size_t run_of(const std::uint8_t* symbol, const std::uint8_t* end) {
  const std::uint64_t eight = symbol[0] * std::uint64_t{0x0101010101010101};
  const std::uint8_t* at = symbol + 1;
  while (end - at >= 8 && load<std::uint64_t>(at) == eight) at += 8;
  while (at != end && *at == *symbol) ++at;
  return static_cast<std::size_t>(at - symbol);
}

template <typename T>
class FastDecoder final : public Decoder<T> {
 public:
  FastDecoder(Numbers numbers, std::size_t word_count, ByteSpan raw, Scratch& scratch)
      : numbers_(numbers), symbols_(scratch.take<std::uint8_t>(word_count)), raw_(raw) {}

  Result<void> unpack_symbols(ByteSpan packed, Scratch& scratch) {
    ZSTD_DCtx* context = scratch.context<ZSTD_createDCtx, ZSTD_freeDCtx>();
    if (context == nullptr)
      return Error{Cause::system, "zstd: not enough memory for the library's context"};
    const std::size_t size = symbols_.span().size();
    const std::size_t got =
        ZSTD_decompressDCtx(context, symbols_.data(), size, packed.data(), packed.size());
    if (ZSTD_isError(got) != 0 || got != size) {
      return Error{Cause::damaged, "words: the symbols are damaged"};
    }
    return {};
  }

  Result<void> brick(std::span<T> words, const BrickPlan<T>& plan) override {
    if (words.size() > symbols_.span().size() - next_) {
      return Error{Cause::damaged, "words: there are fewer symbols than words"};
    }
    const std::uint8_t* symbol = symbols_.data() + next_;
    next_ += words.size();
    const auto limit = static_cast<unsigned>(plan.predictions.size()) * lengths<T>;
    Walk<T> walk(numbers_, plan.box, words.data());
    for (std::size_t i = 0; i < words.size();) {
      if (symbol[i] >= limit)
        return Error{Cause::damaged,
                     "words: a symbol names a prediction that the brick does not have"};
      const unsigned length = symbol[i] % lengths<T>;
      const Prediction<T>& prediction = plan.predictions[symbol[i] / lengths<T>];
      if (length == 0) {
        const std::size_t run = run_of(symbol + i, symbol + words.size());
        walk.follow(prediction, run, words.data());
        i += run;
        continue;
      }
      const std::uint64_t coded = (std::uint64_t{1} << (length - 1)) | raw_.take(length - 1);
      words[i++] = restored(numbers_, static_cast<T>(coded), walk.predict(prediction));
      walk.next();
    }
    return {};
  }

  Result<void> end() const override {
    if (next_ != symbols_.span().size() || raw_.overrun() || !raw_.ended()) {
      return Error{Cause::damaged, "words: bytes are missing or left over"};
    }
    return {};
  }

 private:
  Numbers numbers_;
  Scratch::Lease<std::uint8_t> symbols_;
  RawReader raw_;
  std::size_t next_ = 0;
};

}  // namespace

template <typename T>
std::unique_ptr<Encoder<T>> new_fast_encoder(Numbers numbers) {
  return std::make_unique<FastEncoder<T>>(numbers);
}

template <typename T>
Result<std::unique_ptr<Decoder<T>>> new_fast_decoder(ByteSpan stored, std::uint64_t word_count,
                                                     Numbers numbers, Scratch& scratch) {
  Reader in(stored);
  const std::uint64_t size = MCR_TRY(in.varint_at_most(in.remaining(), "size of symbols"));
  const ByteSpan packed = MCR_TRY(in.bytes(size));
  const ByteSpan raw = MCR_TRY(in.bytes(in.remaining()));
  auto decoder =
      std::make_unique<FastDecoder<T>>(numbers, static_cast<std::size_t>(word_count), raw, scratch);
  MCR_TRY(decoder->unpack_symbols(packed, scratch));
  return std::unique_ptr<Decoder<T>>(std::move(decoder));
}

template std::unique_ptr<Encoder<std::uint32_t>> new_fast_encoder(Numbers);
template std::unique_ptr<Encoder<std::uint64_t>> new_fast_encoder(Numbers);
template Result<std::unique_ptr<Decoder<std::uint32_t>>> new_fast_decoder(ByteSpan, std::uint64_t,
                                                                          Numbers, Scratch&);
template Result<std::unique_ptr<Decoder<std::uint64_t>>> new_fast_decoder(ByteSpan, std::uint64_t,
                                                                          Numbers, Scratch&);

}  // namespace mcr::codecs::words
