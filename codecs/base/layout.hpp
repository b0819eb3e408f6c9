// SPDX-License-Identifier: BSD-3-Clause
// The meaning of the bytes in a pipeline: their element type, and the shapes of their bricks. A
// brick is a piece of a fragment; bricks follow one another.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace mcr::codecs {

enum class ElementKind : std::uint8_t {
  bytes = 0,  ///< opaque records of `size` bytes: compound, strings, opaque, references
  unsigned_integer = 1,
  signed_integer = 2,
  floating = 3,  ///< IEEE 754 binary16/32/64
};

/// Type of one element as it lies in the file.
struct ElementType {
  ElementKind kind = ElementKind::bytes;
  std::uint32_t size = 1;   ///< bytes per element; 1, 2, 4 or 8 for numbers, at least 1 for bytes
  bool big_endian = false;  ///< byte order in the file; false if elements have no byte order

  bool operator==(const ElementType&) const = default;
};

/// Extents of one brick in elements, slowest first. If a fragment has more than four dimensions,
/// the slowest ones are folded into one. A flat piece has rank 1.
struct Shape {
  static constexpr std::size_t max_rank = 4;

  std::uint8_t rank = 1;
  std::array<std::uint32_t, max_rank> extent{};

  static Shape flat(std::uint32_t count) { return {1, {count}}; }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t product = 1;
    for (std::size_t i = 0; i < rank; ++i) product *= extent[i];
    return product;
  }
  bool operator==(const Shape&) const = default;
};

/// An element type and bricks. The bricks follow one another without gaps; each is row-major.
struct Layout {
  ElementType type;
  std::vector<Shape> bricks;

  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const Shape& brick : bricks) sum += brick.count();
    return sum;
  }
  [[nodiscard]] std::uint64_t raw_bytes() const { return count() * type.size; }
  bool operator==(const Layout&) const = default;
};

}  // namespace mcr::codecs
