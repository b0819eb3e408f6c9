// SPDX-License-Identifier: BSD-3-Clause
// Data that codecs are tried on: element types, patterns with every awkward bit, odd shapes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs::sample {

inline constexpr ElementType i4{ElementKind::signed_integer, 4, false};
inline constexpr ElementType f4{ElementKind::floating, 4, false};
inline constexpr ElementType f8{ElementKind::floating, 8, false};

inline std::vector<ElementType> number_types() {
  std::vector<ElementType> types;
  for (const auto kind : {ElementKind::unsigned_integer, ElementKind::signed_integer}) {
    for (const std::uint32_t size : {1U, 2U, 4U, 8U}) types.push_back({kind, size, false});
  }
  for (const std::uint32_t size : {2U, 4U, 8U}) {
    types.push_back({ElementKind::floating, size, false});
  }
  return types;
}

inline std::vector<ElementType> all_types() {
  std::vector<ElementType> types = number_types();
  for (const std::uint32_t size : {1U, 2U, 3U, 4U, 8U, 12U, 24U, 37U}) {
    types.push_back({ElementKind::bytes, size, false});
  }
  return types;
}

/// Patterns of `count` elements as 64-bit words; a type takes the low bytes of each word.
enum class Pattern {
  zeros,
  ones,  // all bits set: a NaN with full payload
  counting,
  random,
  smooth,    // a wave, in the type's own numbers
  specials,  // NaN payloads, infinities, -0, denormals, extremes, in the type's own numbers
  few,       // five values
  stepped,   // multiples of a step, in the type's own numbers
  last
};

inline Bytes make(const ElementType& type, std::size_t count, Pattern pattern, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  Bytes raw(count * type.size);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t word = 0;
    switch (pattern) {
      case Pattern::zeros:
        break;
      case Pattern::ones:
        word = ~std::uint64_t{0};
        break;
      case Pattern::counting:
        word = i * 3 + 7;
        break;
      case Pattern::random:
        word = random();
        break;
      case Pattern::few:
        word = (random() % 5) * 0x0123456789abcdefU;
        break;
      case Pattern::smooth: {
        const double wave = std::sin(static_cast<double>(i) * 0.05) * 1000;
        if (type.kind == ElementKind::floating && type.size == 8) {
          word = std::bit_cast<std::uint64_t>(wave);
        } else if (type.kind == ElementKind::floating && type.size == 4) {
          word = std::bit_cast<std::uint32_t>(static_cast<float>(wave));
        } else {
          word = static_cast<std::uint64_t>(static_cast<std::int64_t>(wave));
        }
        break;
      }
      case Pattern::stepped: {
        const auto k = static_cast<std::int64_t>(std::sin(static_cast<double>(i) * 0.05) * 1000);
        if (type.kind == ElementKind::floating && type.size == 8) {
          word = std::bit_cast<std::uint64_t>(273.16 + static_cast<double>(k) * 0.0123);
        } else if (type.kind == ElementKind::floating && type.size == 4) {
          word = std::bit_cast<std::uint32_t>(static_cast<float>(k) / 100);
        } else {
          word = static_cast<std::uint64_t>(25 * k + 3);
        }
        break;
      }
      case Pattern::specials: {
        // Exponent all ones or zero, mantissa and sign at random or at their ends: for every size
        // of float the top byte decides; the low bytes make payloads and denormals.
        const std::uint64_t low = random() & ((std::uint64_t{1} << (random() % 53)) - 1);
        static constexpr std::uint64_t tops[] = {0x7ff0, 0xfff0, 0x7ff8, 0x8000, 0x0000, 0x7fff,
                                                 0x0010, 0x7f80, 0xff80, 0x7c00, 0xfc00, 0x3ff0};
        const std::uint64_t top = tops[random() % std::size(tops)];
        const unsigned bits = type.size >= 8 ? 64 : type.size * 8;
        word = bits >= 16 ? (top << (bits - 16)) | (random() % 3 == 0 ? 0 : low) : top;
        break;
      }
      case Pattern::last:
        break;
    }
    std::byte* to = raw.data() + i * type.size;
    for (std::size_t b = 0; b < type.size; ++b) {
      to[b] = static_cast<std::byte>(b < 8 ? word >> (8 * b) : word * b);
    }
  }
  return raw;
}

/// Layouts of odd shapes, empty bricks among them.
inline std::vector<std::vector<Shape>> odd_shapes() {
  return {
      {},
      {Shape::flat(0)},
      {Shape::flat(1), Shape::flat(0), Shape::flat(3)},
      {{2, {1, 17}}, {2, {17, 1}}, {2, {5, 7}}},
      {{3, {3, 5, 7}}, {3, {3, 5, 7}}, {3, {1, 1, 1}}, {3, {2, 0, 9}}},
      {{3, {16, 16, 16}}},
      {{4, {2, 3, 4, 5}}, {1, {11}}},
      {{2, {333, 3}}},
      {Shape::flat(1000), Shape::flat(1000), Shape::flat(1000), Shape::flat(7)},
  };
}

inline std::string describe(const Layout& layout) {
  std::string text = "kind " + std::to_string(static_cast<int>(layout.type.kind)) + " size " +
                     std::to_string(layout.type.size) + (layout.type.big_endian ? " big" : "");
  for (const Shape& shape : layout.bricks) {
    text += " [";
    for (std::size_t i = 0; i < shape.rank; ++i) text += std::to_string(shape.extent[i]) + " ";
    text += "]";
  }
  return text;
}

}  // namespace mcr::codecs::sample
