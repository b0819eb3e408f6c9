// SPDX-License-Identifier: BSD-3-Clause
// Predictions of a brick's words. A prediction from earlier words of the same brick is computed
// when these words are known. See spec.md, "Predictions".
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "codecs/word_candidates/differences.hpp"

namespace mcr::codecs::words {

/// One prediction for each word of a brick.
template <typename T>
struct Prediction {
  enum class Kind : std::uint8_t {
    previous,    ///< each word by the word before it, the first word by 0
    array,       ///< word i by array[i]
    partner,     ///< word i by word partner[i] of the brick; if that is not below i, as `previous`
    neighbours,  ///< each word by its neighbours along the axes in `axes`, extrapolated (Lorenzo)
  };
  Kind kind = Kind::previous;
  /// Bit a stands for axis a of the box, 0 being the slowest; at least one bit is set.
  std::uint8_t axes = 0;
  const T* array = nullptr;
  const std::uint32_t* partner = nullptr;
};

/// Extents of the brick, slowest first; they define the neighbours.
using Extents = std::array<std::uint32_t, 3>;

/// Walks a brick in order and returns predictions for the current word.
template <typename T>
class Walk {
 public:
  Walk(Numbers numbers, const Extents& box, const T* words)
      : numbers_(numbers),
        box_(box),
        words_(words),
        rows_(std::size_t{box[2]}),
        planes_(std::size_t{box[1]} * box[2]) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  void next() {
    ++at_;
    if (++k_ < box_[2]) return;
    k_ = 0;
    if (++j_ < box_[1]) return;
    j_ = 0;
    ++i_;
  }

  /// Advances by `count` words.
  void skip(std::size_t count) {
    at_ += count;
    std::size_t k = k_ + count;
    for (; k >= box_[2]; k -= box_[2]) {
      if (++j_ < box_[1]) continue;
      j_ = 0;
      ++i_;
    }
    k_ = static_cast<std::uint32_t>(k);
  }

  void go_to(std::size_t at) {
    at_ = at;
    k_ = static_cast<std::uint32_t>(at % box_[2]);
    j_ = static_cast<std::uint32_t>(at / box_[2] % box_[1]);
    i_ = static_cast<std::uint32_t>(at / planes_);
  }

  [[nodiscard]] T predict(const Prediction<T>& prediction) const {
    switch (prediction.kind) {
      case Prediction<T>::Kind::array:
        return prediction.array[at_];
      case Prediction<T>::Kind::partner:
        if (prediction.partner[at_] < at_) return words_[prediction.partner[at_]];
        return previous();
      case Prediction<T>::Kind::neighbours:
        return neighbours(prediction.axes);
      default:
        return previous();
    }
  }

  [[nodiscard]] T previous() const { return at_ == 0 ? T{0} : words_[at_ - 1]; }

  /// Sets the next `count` words to their predictions, and advances by `count`. `words` is the
  /// brick of this walk.
  void follow(const Prediction<T>& prediction, std::size_t count, T* words) {
    switch (prediction.kind) {
      case Prediction<T>::Kind::array:
        std::copy_n(prediction.array + at_, count, words + at_);
        return skip(count);
      case Prediction<T>::Kind::partner:
        for (const std::size_t end = at_ + count; at_ < end; next()) {
          words[at_] = predict(prediction);
        }
        return;
      case Prediction<T>::Kind::neighbours:
        return follow_neighbours(prediction.axes, count, words);
      default:
        std::fill_n(words + at_, count, previous());
        return skip(count);
    }
  }

 private:
  using Float = std::conditional_t<sizeof(T) == 8, double, float>;

  [[nodiscard]] T neighbours(unsigned axes) const {
    return with_neighbours(axes, [this](auto predicted) { return predicted(words_ + at_); });
  }

  /// Within a row, the set of existing neighbours changes only after its first word.
  void follow_neighbours(unsigned axes, std::size_t count, T* words) {
    while (count != 0) {
      const std::size_t row = k_ == 0 ? 1 : std::min<std::size_t>(count, box_[2] - k_);
      with_neighbours(axes, [=, this](auto predicted) {
        for (T* word = words + at_; word != words + at_ + row; ++word) *word = predicted(word);
      });
      skip(row);
      count -= row;
    }
  }

  /// Calls `use` with a function that returns the prediction for a place in the brick. The function
  /// is valid for the current word, and for all words that have neighbours along the same axes.
  template <typename Use>
  auto with_neighbours(unsigned axes, const Use& use) const {
    unsigned mask = axes;
    if (i_ == 0) mask &= ~1U;
    if (j_ == 0) mask &= ~2U;
    if (k_ == 0) mask &= ~4U;
    const std::size_t a = planes_;
    const std::size_t b = rows_;
    switch (mask) {
      case 1:
        return use([a](const T* w) { return *(w - a); });
      case 2:
        return use([b](const T* w) { return *(w - b); });
      case 4:
        return use([](const T* w) { return *(w - 1); });
      case 3:
        return use([=, this](const T* w) { return plane(*(w - a), *(w - b), *(w - a - b)); });
      case 5:
        return use([=, this](const T* w) { return plane(*(w - a), *(w - 1), *(w - a - 1)); });
      case 6:
        return use([=, this](const T* w) { return plane(*(w - b), *(w - 1), *(w - b - 1)); });
      case 7:
        return use([=, this](const T* w) { return cube(w, a, b); });
      default:
        return use([this](const T* w) { return w == words_ ? T{0} : *(w - 1); });
    }
  }

  [[nodiscard]] T plane(T x, T y, T xy) const {
    if (numbers_ == Numbers::integer) return static_cast<T>(x + y - xy);
    return number((std::bit_cast<Float>(x) + std::bit_cast<Float>(y)) - std::bit_cast<Float>(xy));
  }
  [[nodiscard]] T cube(const T* w, std::size_t a, std::size_t b) const {
    const T x = *(w - a);
    const T y = *(w - b);
    const T z = *(w - 1);
    const T xy = *(w - a - b);
    const T xz = *(w - a - 1);
    const T yz = *(w - b - 1);
    const T xyz = *(w - a - b - 1);
    if (numbers_ == Numbers::integer) return static_cast<T>(x + y + z - xy - xz - yz + xyz);
    const Float sum = (std::bit_cast<Float>(x) - std::bit_cast<Float>(xy)) +
                      (std::bit_cast<Float>(y) - std::bit_cast<Float>(yz));
    return number((sum + (std::bit_cast<Float>(z) - std::bit_cast<Float>(xz))) +
                  std::bit_cast<Float>(xyz));
  }
  /// The bits of a NaN differ between machines, so no NaN may become a prediction.
  static T number(Float value) { return value == value ? std::bit_cast<T>(value) : T{0}; }

  Numbers numbers_;
  Extents box_;
  const T* words_;
  std::size_t rows_;
  std::size_t planes_;
  std::size_t at_ = 0;
  std::uint32_t i_ = 0;
  std::uint32_t j_ = 0;
  std::uint32_t k_ = 0;
};

}  // namespace mcr::codecs::words
