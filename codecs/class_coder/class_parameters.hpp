// SPDX-License-Identifier: BSD-3-Clause
// The parameters of the codec `class_coder`, and the rows of a layout.
#pragma once

#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/class_coder/symbol_contexts.hpp"
#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs {

inline constexpr unsigned class_smallest_flag = 1;
inline constexpr unsigned class_contexts_flag = 2;

// Byte form: nothing, or one byte of flags.
struct ClassParameters {
  entropy::Method method = entropy::Method::huffman;
  bool contexts = false;
};

inline Result<ClassParameters> read_class_parameters(ByteSpan bytes) {
  if (bytes.empty()) return ClassParameters{};
  const auto flags = std::to_integer<unsigned>(bytes[0]);
  if (bytes.size() > 1 || flags > (class_smallest_flag | class_contexts_flag)) {
    return Error{
        Cause::usage,
        "class_coder: the parameter is not one byte with the flags 1 (smallest) and 2 (contexts)"};
  }
  return ClassParameters{
      (flags & class_smallest_flag) != 0 ? entropy::Method::smallest : entropy::Method::huffman,
      (flags & class_contexts_flag) != 0};
}

inline std::vector<SymbolRows> rows_of(const Layout& layout) {
  std::vector<SymbolRows> rows;
  for (const Shape& brick : layout.bricks) {
    const auto count = static_cast<std::size_t>(brick.count());
    rows.push_back({count, brick.rank > 1 ? brick.extent[brick.rank - 1U] : 0});
  }
  return rows;
}

}  // namespace mcr::codecs
