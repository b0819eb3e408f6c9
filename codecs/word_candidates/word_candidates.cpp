// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/word_candidates/word_candidates.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>

namespace mcr::codecs::words {
namespace {

template <typename T>
constexpr unsigned classes = word_bits<T> + 1;  // bit lengths 0 to 64 of a difference

template <typename T>
T predict(const Prediction<T>& prediction, const T* words, std::size_t i) {
  if (prediction.kind == Prediction<T>::Kind::array) return prediction.array[i];
  if (prediction.kind == Prediction<T>::Kind::partner && prediction.partner[i] < i) {
    return words[prediction.partner[i]];
  }
  return i == 0 ? T{0} : words[i - 1];
}

}  // namespace

template <typename T>
Encoder<T>::Encoder(Coding coding, Numbers numbers, Scratch& scratch)
    : coding_(coding), numbers_(numbers), scratch_(scratch) {}

template <typename T>
void Encoder<T>::raw(std::uint64_t bits, unsigned count) {
  raw_held_ |= bits << raw_fill_;
  if (raw_fill_ + count >= 64) {
    Writer(raw_).u64(raw_held_);
    raw_held_ = raw_fill_ == 0 ? 0 : bits >> (64 - raw_fill_);
    raw_fill_ = raw_fill_ + count - 64;
  } else {
    raw_fill_ += count;
  }
}

template <typename T>
void Encoder<T>::brick(std::span<const T> words, std::span<const Prediction<T>> predictions) {
  const std::size_t begin = symbols_.size();
  symbols_.resize(begin + words.size());
  std::uint8_t* symbol = symbols_.data() + begin;
  for (std::size_t i = 0; i < words.size(); ++i) {
    T best = difference(numbers_, words[i], predict(predictions[0], words.data(), i));
    unsigned best_length = bit_length(best);
    unsigned choice = 0;
    for (unsigned p = 1; p < predictions.size() && best_length != 0; ++p) {
      const T other = difference(numbers_, words[i], predict(predictions[p], words.data(), i));
      const unsigned length = bit_length(other);
      // A change of prediction costs bits of its own: take it for a clear gain only.
      if (length + 2 < best_length || (length == 0 && best_length != 0)) {
        best = other;
        best_length = length;
        choice = p;
      }
    }
    symbol[i] = static_cast<std::uint8_t>(choice * classes<T> + best_length);
    if (best_length > 1) {
      raw(static_cast<std::uint64_t>(best) & ((std::uint64_t{1} << (best_length - 1)) - 1),
          best_length - 1);
    }
  }
}

template <typename T>
Result<void> Encoder<T>::finish(int level, Bytes& out) {
  if (raw_fill_ != 0) {
    for (unsigned bit = 0; bit < raw_fill_; bit += 8) {
      Writer(raw_).u8(static_cast<std::uint8_t>(raw_held_ >> bit));
    }
    raw_held_ = 0;
    raw_fill_ = 0;
  }
  ZSTD_CCtx* context = scratch_.context<ZSTD_createCCtx, ZSTD_freeCCtx>();
  if (context == nullptr) return Error{Cause::system, "zstd: no memory for its context"};
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
  const auto packed = scratch_.take<std::byte>(ZSTD_compressBound(symbols_.size()));
  const std::size_t size = ZSTD_compress2(context, packed.data(), packed.span().size(),
                                          symbols_.data(), symbols_.size());
  if (ZSTD_isError(size) != 0) {
    return Error{Cause::system, std::string("zstd: ") + ZSTD_getErrorName(size)};
  }
  Writer writer(out);
  writer.u8(static_cast<std::uint8_t>(coding_));
  writer.varint(size);
  writer.bytes(packed.span().first(size));
  writer.bytes(raw_);
  symbols_.clear();
  raw_.clear();
  return {};
}

template <typename T>
Result<void> Decoder<T>::begin(ByteSpan stored, std::uint64_t word_count) {
  Reader in(stored);
  const std::uint8_t coding = MCR_TRY(in.u8());
  if (coding != static_cast<std::uint8_t>(Coding::fast)) {
    return Error{Cause::damaged, "words: no such coding"};
  }
  const std::uint64_t size = MCR_TRY(in.varint());
  const ByteSpan packed = MCR_TRY(in.bytes(size));
  raw_ = MCR_TRY(in.bytes(in.remaining()));
  raw_bit_ = 0;
  next_symbol_ = 0;
  symbols_.resize(static_cast<std::size_t>(word_count));
  ZSTD_DCtx* context = scratch_.context<ZSTD_createDCtx, ZSTD_freeDCtx>();
  if (context == nullptr) return Error{Cause::system, "zstd: no memory for its context"};
  const std::size_t got =
      ZSTD_decompressDCtx(context, symbols_.data(), symbols_.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != symbols_.size()) {
    return Error{Cause::damaged, "words: symbols are damaged"};
  }
  return {};
}

namespace {
/// `count` (at most 63) bits from bit `at` on; beyond the end there are zeros.
inline std::uint64_t bits_at(ByteSpan bytes, std::uint64_t at, unsigned count) {
  const std::size_t byte = static_cast<std::size_t>(at / 8);
  const unsigned shift = at % 8;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  if (byte + 9 <= bytes.size()) [[likely]] {
    low = little_endian(load<std::uint64_t>(bytes.data() + byte));
    high = std::to_integer<std::uint64_t>(bytes[byte + 8]);
  } else {
    for (std::size_t i = 0; i < 9 && byte + i < bytes.size(); ++i) {
      const auto value = std::to_integer<std::uint64_t>(bytes[byte + i]);
      if (i < 8) low |= value << (i * 8);
      if (i == 8) high = value;
    }
  }
  std::uint64_t value = low >> shift;
  if (shift != 0) value |= high << (64 - shift);
  return value & ((std::uint64_t{1} << count) - 1);
}
}  // namespace

template <typename T>
Result<void> Decoder<T>::brick(std::span<T> words, std::span<const Prediction<T>> predictions) {
  if (words.size() > symbols_.size() - next_symbol_) {
    return Error{Cause::damaged, "words: too few symbols"};
  }
  const std::uint8_t* symbol = symbols_.data() + next_symbol_;
  next_symbol_ += words.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const unsigned choice = symbol[i] / classes<T>;
    const unsigned length = symbol[i] % classes<T>;
    if (choice >= predictions.size()) return Error{Cause::damaged, "words: no such prediction"};
    const T prediction = predict(predictions[choice], words.data(), i);
    if (length == 0) {
      words[i] = prediction;
      continue;
    }
    const std::uint64_t top = std::uint64_t{1} << (length - 1);
    const std::uint64_t low = bits_at(raw_, raw_bit_, length - 1);
    raw_bit_ += length - 1;
    words[i] = restored(numbers_, static_cast<T>(top | low), prediction);
  }
  if (raw_bit_ > raw_.size() * 8) return Error{Cause::damaged, "words: too few bits"};
  return {};
}

template <typename T>
Result<void> Decoder<T>::end() const {
  if (next_symbol_ != symbols_.size() || (raw_bit_ + 7) / 8 != raw_.size()) {
    return Error{Cause::damaged, "words: bytes are left over"};
  }
  return {};
}

template class Encoder<std::uint32_t>;
template class Encoder<std::uint64_t>;
template class Decoder<std::uint32_t>;
template class Decoder<std::uint64_t>;

}  // namespace mcr::codecs::words
