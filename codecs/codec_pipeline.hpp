// SPDX-License-Identifier: BSD-3-Clause
// A chain of codecs with their parameters; text form `lorenzo(float)|zigzag|class`, byte form in frames.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/codec.hpp"

namespace mcr::codecs {

/// One codec of a pipeline.
struct Step {
  CodecId codec = 0;
  Bytes parameters;

  bool operator==(const Step&) const = default;
};

/// Steps in the order of encoding. Empty: the bytes as they are.
struct Pipeline {
  static constexpr std::size_t max_steps = 8;

  std::vector<Step> steps;

  bool operator==(const Pipeline&) const = default;

  /// From text: codec names with optional parameters in parentheses, joined by `|`; "none" is empty.
  /// Cause::usage names the unknown codec and lists the known ones.
  static Result<Pipeline> parse(std::string_view text);
  [[nodiscard]] std::string print() const;

  /// Byte form: step count, then per step id, parameter length, parameters.
  void write(Writer& out) const;
  static Result<Pipeline> read(Reader& in);
};

}  // namespace mcr::codecs
