// SPDX-License-Identifier: BSD-3-Clause
// Codes a word as binary decisions under adaptive models. The decisions tell which prediction
// equals the word. If none does, they tell from which prediction the difference is coded, its
// length, and its first bits; its other bits are stored unchanged.
#include <algorithm>
#include <vector>

#include "codecs/word_candidates/codings.hpp"
#include "codecs/word_candidates/range_coder.hpp"
#include "codecs/word_candidates/raw_bits.hpp"

namespace mcr::codecs::words {
namespace {

constexpr std::size_t most = max_predictions(Coding::strong);
constexpr unsigned outcomes = 5;       // of earlier words, as models see them
constexpr unsigned top_bits = 3;       // of a difference, below its highest one
constexpr unsigned length_groups = 9;  // of the difference before

/// Difference lengths up to this are short. The outcome of a word, for the models of later words,
/// is 0 or 1 if the first or second prediction was equal, 2 for another prediction, 3 for a short
/// difference, 4 for a long one.
constexpr unsigned short_length = 12;

/// All models; encoder and decoder update the same ones.
struct Models {
  Bit exact[most][outcomes * outcomes * outcomes];
  Bit base[most][most + 1];
  BitTree<6> length[3][length_groups];
  BitTree<top_bits> top[word_bits<std::uint64_t> + 1][2];
};

/// The context of the models: the two words before, the word a row before, and the last difference.
class Context {
 public:
  void begin_brick(std::size_t row, std::size_t words) {
    row_ = row;
    outcomes_.assign(words, 0);
    at_ = 0;
  }
  [[nodiscard]] unsigned value() const {
    const unsigned a = at_ >= 1 ? outcomes_[at_ - 1] : 0U;
    const unsigned b = at_ >= 2 ? outcomes_[at_ - 2] : 0U;
    const unsigned c = at_ >= row_ ? outcomes_[at_ - row_] : 0U;
    return (a * outcomes + b) * outcomes + c;
  }
  void exact(unsigned prediction) {
    outcomes_[at_++] = static_cast<std::uint8_t>(std::min(prediction, 2U));
  }
  void differs(unsigned base, unsigned length) {
    outcomes_[at_++] = length <= short_length ? 3 : 4;
    last_base = base + 1;
    last_group = length / 8;
  }
  unsigned last_base = 0;
  unsigned last_group = 0;

 private:
  std::vector<std::uint8_t> outcomes_;
  std::size_t row_ = 1;
  std::size_t at_ = 0;
};

/// The distinct predictions of the current word: a prediction that equals an earlier one is left
/// out.
template <typename T>
struct Field {
  T value[most];
  bool repeats[most];
  unsigned count = 0;

  void fill(const Walk<T>& walk, std::span<const Prediction<T>> predictions) {
    count = static_cast<unsigned>(predictions.size());
    for (unsigned p = 0; p < count; ++p) {
      value[p] = walk.predict(predictions[p]);
      repeats[p] = false;
      for (unsigned earlier = 0; earlier < p; ++earlier) repeats[p] |= value[earlier] == value[p];
    }
  }
};

template <typename T>
class StrongEncoder final : public Encoder<T> {
 public:
  explicit StrongEncoder(Numbers numbers)
      : numbers_(numbers), models_(std::make_unique<Models>()), range_(coded_) {}

  void brick(std::span<const T> words, const BrickPlan<T>& plan) override {
    context_.begin_brick(plan.box[2], words.size());
    Walk<T> walk(numbers_, plan.box, words.data());
    Field<T> field;
    for (std::size_t i = 0; i < words.size(); ++i, walk.next()) {
      field.fill(walk, plan.predictions);
      word(words[i], field);
    }
  }

  Result<void> finish(int, Scratch&, Bytes& out) override {
    range_.finish();
    Writer writer(out);
    writer.u8(static_cast<std::uint8_t>(Coding::strong));
    writer.varint(coded_.size());
    writer.bytes(coded_);
    writer.bytes(raw_.finish());
    return {};
  }

 private:
  void word(T value, const Field<T>& field) {
    const unsigned context = context_.value();
    for (unsigned p = 0; p < field.count; ++p) {
      if (field.repeats[p]) continue;
      const bool exact = field.value[p] == value;
      range_.encode(models_->exact[p][context], exact ? 1 : 0);
      if (exact) return context_.exact(p);
    }
    unsigned base = 0;
    T best = difference(numbers_, value, field.value[0]);
    unsigned score = bit_length(best);
    for (unsigned p = 1; p < field.count; ++p) {
      if (field.repeats[p]) continue;
      const T other = difference(numbers_, value, field.value[p]);
      if (bit_length(other) + 1 < score) {
        base = p;
        best = other;
        score = bit_length(other);
      }
    }
    for (unsigned p = 0; p < field.count; ++p) {
      if (field.repeats[p] || is_last(field, p)) continue;
      range_.encode(models_->base[p][context_.last_base], p == base ? 1 : 0);
      if (p == base) break;
    }
    const unsigned length = bit_length(best);
    models_->length[std::min(base, 2U)][context_.last_group].encode(range_, length - 1);
    std::uint64_t rest =
        static_cast<std::uint64_t>(best) & ((std::uint64_t{1} << (length - 1)) - 1);
    unsigned left = length - 1;
    if (left >= top_bits) {
      left -= top_bits;
      models_->top[length][base != 0 ? 1 : 0].encode(range_, static_cast<unsigned>(rest >> left));
      rest &= (std::uint64_t{1} << left) - 1;
    }
    raw_.put(rest, left);
    context_.differs(base, length);
  }

 public:
  /// True if no prediction after `p` can still be chosen.
  static bool is_last(const Field<T>& field, unsigned p) {
    for (unsigned next = p + 1; next < field.count; ++next) {
      if (!field.repeats[next]) return false;
    }
    return true;
  }

 private:
  Numbers numbers_;
  std::unique_ptr<Models> models_;
  Context context_;
  Bytes coded_;
  RangeEncoder range_;
  RawWriter raw_;
};

template <typename T>
class StrongDecoder final : public Decoder<T> {
 public:
  StrongDecoder(Numbers numbers, ByteSpan coded, ByteSpan raw)
      : numbers_(numbers), models_(std::make_unique<Models>()), range_(coded), raw_(raw) {}

  Result<void> brick(std::span<T> words, const BrickPlan<T>& plan) override {
    context_.begin_brick(plan.box[2], words.size());
    Walk<T> walk(numbers_, plan.box, words.data());
    Field<T> field;
    for (std::size_t i = 0; i < words.size(); ++i, walk.next()) {
      field.fill(walk, plan.predictions);
      words[i] = word(field);
    }
    return {};
  }

  Result<void> end() const override {
    if (!range_.ended() || raw_.overrun() || !raw_.ended()) {
      return Error{Cause::damaged, "words: bytes are missing or left over"};
    }
    return {};
  }

 private:
  T word(const Field<T>& field) {
    const unsigned context = context_.value();
    for (unsigned p = 0; p < field.count; ++p) {
      if (field.repeats[p]) continue;
      if (range_.decode(models_->exact[p][context]) != 0) {
        context_.exact(p);
        return field.value[p];
      }
    }
    unsigned base = 0;
    for (unsigned p = 0; p < field.count; ++p) {
      if (field.repeats[p]) continue;
      base = p;
      if (StrongEncoder<T>::is_last(field, p)) break;
      if (range_.decode(models_->base[p][context_.last_base]) != 0) break;
    }
    const unsigned length = std::min(
        models_->length[std::min(base, 2U)][context_.last_group].decode(range_) + 1, word_bits<T>);
    unsigned left = length - 1;
    std::uint64_t value = 1;
    if (left >= top_bits) {
      left -= top_bits;
      value = value << top_bits | models_->top[length][base != 0 ? 1 : 0].decode(range_);
    }
    value = value << left | raw_.take(left);
    context_.differs(base, length);
    return restored(numbers_, static_cast<T>(value), field.value[base]);
  }

  Numbers numbers_;
  std::unique_ptr<Models> models_;
  Context context_;
  RangeDecoder range_;
  RawReader raw_;
};

}  // namespace

template <typename T>
std::unique_ptr<Encoder<T>> new_strong_encoder(Numbers numbers) {
  return std::make_unique<StrongEncoder<T>>(numbers);
}

template <typename T>
Result<std::unique_ptr<Decoder<T>>> new_strong_decoder(ByteSpan stored, Numbers numbers) {
  Reader in(stored);
  const std::uint64_t size = MCR_TRY(in.varint_at_most(in.remaining(), "size of decisions"));
  const ByteSpan coded = MCR_TRY(in.bytes(size));
  const ByteSpan raw = MCR_TRY(in.bytes(in.remaining()));
  return std::unique_ptr<Decoder<T>>(std::make_unique<StrongDecoder<T>>(numbers, coded, raw));
}

template std::unique_ptr<Encoder<std::uint32_t>> new_strong_encoder(Numbers);
template std::unique_ptr<Encoder<std::uint64_t>> new_strong_encoder(Numbers);
template Result<std::unique_ptr<Decoder<std::uint32_t>>> new_strong_decoder(ByteSpan, Numbers);
template Result<std::unique_ptr<Decoder<std::uint64_t>>> new_strong_decoder(ByteSpan, Numbers);

}  // namespace mcr::codecs::words
