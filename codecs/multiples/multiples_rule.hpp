// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic that encoder and decoder share. Both directions are bijections of all words of a
// size, so that words that are not multiples need no storage of their own.
#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"
#include "codecs/multiples/multiples.hpp"

namespace mcr::codecs {

/// Numbers the integers below 2^bits anew: first the multiples of the step, by their quotients,
/// then the integers with remainder 1, and so on. Numbers are counted from `zero`.
template <typename Word>
class StepRule {
 public:
  using Wide = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;

  StepRule(unsigned bits, const Multiples& multiples, std::uint64_t zero)
      : step_(static_cast<Wide>(multiples.step)) {
    const std::uint64_t step = multiples.step;
    const std::uint64_t largest = ~std::uint64_t{0} >> (64 - bits);
    std::uint64_t quotients = largest / step;
    std::uint64_t longer = largest % step + 1;
    if (longer == step) {
      longer = 0;
      ++quotients;
    }
    mask_ = static_cast<Wide>(largest);
    quotients_ = static_cast<Wide>(quotients);
    longer_ = static_cast<Wide>(longer);
    last_multiple_ = static_cast<Wide>(longer == 0 ? quotients - 1 : quotients);
    shift_ = std::has_single_bit(step) ? std::countr_zero(step) : -1;
    base_ = static_cast<Wide>((zero % step + multiples.base) % step);
    zero_ = static_cast<Wide>((zero + multiples.base) / step);
  }

  [[nodiscard]] Word encode(Word word) const {
    const Wide offset = (word - base_) & mask_;
    const Wide quotient = shift_ >= 0 ? offset >> shift_ : offset / step_;
    const Wide remainder = offset - quotient * step_;
    Wide number = quotient - zero_;
    if (remainder != 0) number += remainder * quotients_ + std::min(remainder, longer_);
    return static_cast<Word>(number & mask_);
  }

  [[nodiscard]] Word decode(Word number) const {
    Wide left = (number + zero_) & mask_;
    if (left <= last_multiple_) return static_cast<Word>((left * step_ + base_) & mask_);
    // Each remainder below `longer_` has one more quotient than the other remainders.
    Wide remainder = 0;
    Wide each = quotients_ + 1;
    if (left >= longer_ * each) {
      left -= longer_ * each;
      remainder = longer_;
      each = quotients_;
    }
    remainder += left / each;
    return static_cast<Word>((left % each * step_ + remainder + base_) & mask_);
  }

 private:
  Wide step_;
  Wide base_ = 0, zero_ = 0;
  Wide mask_ = 0;
  Wide quotients_ = 0;      // quotients that every remainder has
  Wide longer_ = 0;         // number of remainders that have one quotient more
  Wide last_multiple_ = 0;  // the largest integer whose remainder is 0
  int shift_ = -1;
};

/// The rule for integers. Signed integers are taken in the order of unsigned ones.
template <typename Word>
class IntegerRule {
 public:
  IntegerRule(const Multiples& multiples, bool is_signed)
      : flip_(is_signed ? sign_bit<Word> : Word{0}), steps_(word_bits<Word>, multiples, flip_) {}
  [[nodiscard]] Word encode(Word word) const {
    return steps_.encode(static_cast<Word>(word ^ flip_));
  }
  [[nodiscard]] Word decode(Word number) const {
    return static_cast<Word>(steps_.decode(number) ^ flip_);
  }

 private:
  Word flip_;
  StepRule<Word> steps_;
};

/// The rule for IEEE bits: the magnitude as an integer, inverted if the number is negative.
template <typename Word>
class BitsRule {
 public:
  explicit BitsRule(const Multiples& multiples) : steps_(word_bits<Word> - 1, multiples, 0) {}
  [[nodiscard]] Word encode(Word word) const {
    const Word sign = sign_mask(word);
    return static_cast<Word>(steps_.encode(static_cast<Word>(word & magnitude)) ^ sign);
  }
  [[nodiscard]] Word decode(Word number) const {
    const Word sign = sign_mask(number);
    return static_cast<Word>(steps_.decode(static_cast<Word>(number ^ sign)) |
                             static_cast<Word>(sign & sign_bit<Word>));
  }

 private:
  static constexpr Word magnitude = static_cast<Word>(~sign_bit<Word>);
  StepRule<Word> steps_;
};

enum class NumberKind { over, times, from_origin };

/// Exchanges each IEEE number f(k) with a NaN: the one whose payload is k away from the middle
/// payload. No f(k) is a NaN, so the exchange is its own inverse.
template <typename Word, NumberKind Kind>
class NumberRule {
 public:
  using Float = std::conditional_t<sizeof(Word) == 8, double, float>;
  using Signed = std::make_signed_t<Word>;
  static constexpr Word middle =
      static_cast<Word>(sizeof(Word) == 8 ? 0x7ff8000000000000 : 0x7fc00000);

  explicit NumberRule(const Multiples& multiples);

  [[nodiscard]] Word encode(Word word) const {
    Signed number = 0;
    if (is_multiple(word, number)) return static_cast<Word>(number);
    const auto from_middle = static_cast<Word>(word - middle);
    return stands_for_multiple(from_middle) ? static_cast<Word>(multiple(from_middle) - middle)
                                            : from_middle;
  }
  [[nodiscard]] Word decode(Word number) const {
    if (stands_for_multiple(number)) return multiple(number);
    const auto word = static_cast<Word>(number + middle);
    Signed of_word = 0;
    return is_multiple(word, of_word) ? static_cast<Word>(of_word + static_cast<Signed>(middle))
                                      : word;
  }

 private:
  // 1.5 * 2^52. The last place of this number is 1, so the sum with another number rounds that to a
  // whole number, which the lowest bits of the sum hold in two's complement.
  static constexpr double rounding = 6755399441055744.0;

  /// Returns the bits of f(k).
  [[nodiscard]] Word at(Signed k) const {
    if constexpr (Kind == NumberKind::from_origin) {
      const double product = static_cast<double>(k) * scale_;
      const double sum = product + origin_;
      return std::bit_cast<Word>(static_cast<Float>(sum));
    } else {
      const auto magnitude = static_cast<double>(k < 0 ? ~k : k);
      const double value = Kind == NumberKind::over ? magnitude / scale_ : magnitude * scale_;
      const auto bits = std::bit_cast<Word>(static_cast<Float>(value));
      return k < 0 ? static_cast<Word>(bits | sign_bit<Word>) : bits;
    }
  }
  /// Returns the k whose f(k) is nearest to a number. Returns an arbitrary k if the number is far
  /// from every f(k).
  [[nodiscard]] Signed nearest(Word word) const {
    double steps = 0;
    if constexpr (Kind == NumberKind::from_origin) {
      steps = (static_cast<double>(std::bit_cast<Float>(word)) - origin_) * inverse_;
    } else {
      const auto magnitude = static_cast<Word>(word & static_cast<Word>(~sign_bit<Word>));
      steps = static_cast<double>(std::bit_cast<Float>(magnitude)) * inverse_;
    }
    const double sum = steps + rounding;
    const auto k = static_cast<Signed>(std::bit_cast<std::uint64_t>(sum) -
                                       std::bit_cast<std::uint64_t>(rounding));
    return Kind != NumberKind::from_origin && (word & sign_bit<Word>) != 0 ? ~k : k;
  }
  [[nodiscard]] bool within(Signed k) const { return k >= lowest_ && k <= highest_; }

  /// True if the word is an f(k), or as near to one as the slack allows. `number` receives the
  /// word's number.
  [[nodiscard]] bool is_multiple(Word word, Signed& number) const {
    const Signed k = nearest(word);
    if (!within(k)) return false;
    if constexpr (Kind == NumberKind::from_origin) {
      const auto off = static_cast<Word>(ordered_from_float(word) - ordered_from_float(at(k)));
      number = static_cast<Signed>((static_cast<Word>(k) << slack_) + off);
      return static_cast<Word>(off + below_) < static_cast<Word>(Word{1} << slack_);
    } else {
      number = k;
      return at(k) == word;
    }
  }
  [[nodiscard]] Signed k_of(Word number) const {
    return static_cast<Signed>(static_cast<Word>(number + below_)) >> slack_;
  }
  [[nodiscard]] bool stands_for_multiple(Word number) const { return within(k_of(number)); }
  [[nodiscard]] Word multiple(Word number) const {
    const Signed k = k_of(number);
    if constexpr (Kind == NumberKind::from_origin) {
      const auto off = static_cast<Word>(number - (static_cast<Word>(k) << slack_));
      return float_from_ordered(static_cast<Word>(ordered_from_float(at(k)) + off));
    } else {
      return at(k);
    }
  }

  double scale_, inverse_, origin_;
  Signed lowest_ = 0, highest_ = 0;
  unsigned slack_;
  Word below_;  // how many of the 2^slack neighbours of f(k) lie below f(k)
};

/// Returns the largest |k|; a negative number if no k is possible. Up to the largest |k|, a step is
/// at least eight last places for each neighbour within the slack, so that f(k) rises and nearest()
/// finds k.
double most_steps(const Multiples& multiples, std::size_t size);

template <typename Word, NumberKind Kind>
NumberRule<Word, Kind>::NumberRule(const Multiples& multiples)
    : scale_(multiples.scale),
      inverse_(Kind == NumberKind::over ? multiples.scale : 1 / multiples.scale),
      origin_(multiples.origin),
      slack_(multiples.slack),
      below_(static_cast<Word>((Word{1} << multiples.slack) >> 1)) {
  highest_ = static_cast<Signed>(most_steps(multiples, sizeof(Word)));
  lowest_ = Kind == NumberKind::from_origin ? -highest_ : ~highest_;
}

/// Calls `call(rule)` with the rule that converts words to numbers and back.
template <typename Call>
void with_rule(const Multiples& multiples, const ElementType& type, const Call& call) {
  if (multiples.form == Multiples::Form::step) {
    with_word(type.size, [&]<typename Word>(Word) {
      if constexpr (sizeof(Word) > 1) {
        if (type.kind == ElementKind::floating) return call(BitsRule<Word>(multiples));
      }
      call(IntegerRule<Word>(multiples, type.kind == ElementKind::signed_integer));
    });
    return;
  }
  const auto with_number = [&]<typename Word>(Word) {
    if (multiples.form == Multiples::Form::over) {
      call(NumberRule<Word, NumberKind::over>(multiples));
    } else if (multiples.origin == 0 && multiples.slack == 0) {
      call(NumberRule<Word, NumberKind::times>(multiples));
    } else {
      call(NumberRule<Word, NumberKind::from_origin>(multiples));
    }
  };
  if (type.size == 4) with_number(std::uint32_t{});
  if (type.size == 8) with_number(std::uint64_t{});
}

}  // namespace mcr::codecs
