// SPDX-License-Identifier: BSD-3-Clause
// A formula computes one variable from others. It is a short program of IEEE operations whose
// results are exactly defined. See spec.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::codecs {

/// One operation of a formula. These numbers are stored in files.
enum class Operation : std::uint8_t {
  input = 0,     ///< pushes the word of input `operand`
  constant = 1,  ///< pushes constant `operand`
  /// From here on, an operation takes the value pushed last; a binary one takes the last two.
  add = 2,
  subtract = 3,
  multiply = 4,
  divide = 5,
  square_root = 6,
  larger = 7,
  smaller = 8,
};

/// A program in postfix order.
struct Formula {
  static constexpr std::size_t max_operations = 32;
  static constexpr std::size_t max_depth = 8;
  static constexpr std::size_t max_inputs = 8;
  static constexpr std::size_t max_constants = 8;

  struct Word {
    Operation operation = Operation::input;
    std::uint8_t operand = 0;

    bool operator==(const Word&) const = default;
  };
  std::vector<Word> words;
  std::vector<double> constants;

  bool operator==(const Formula&) const = default;

  /// Returns how many inputs the program uses: the largest operand plus one.
  [[nodiscard]] std::size_t input_count() const;
  void write(Writer& out) const;
  /// Cause::damaged: the program does not leave exactly one value, or it breaks a limit.
  static Result<Formula> read(Reader& in);
  /// Returns the formula as text for users, such as "max(0.5, (2 * a))", with the names in
  /// `inputs`.
  [[nodiscard]] std::string print(std::span<const std::string> inputs) const;
};

/// Fills `result` with the bits that `formula` gives for the words of its inputs (floating-point
/// numbers in this machine's byte order, each array as long as `result`). A NaN becomes 0. T is the
/// words' unsigned integer: std::uint32_t or std::uint64_t. The caller must hold a
/// DefaultFloatEnvironment.
template <typename T>
void evaluate(const Formula& formula, std::span<const T* const> inputs, Scratch& scratch,
              std::span<T> result);

}  // namespace mcr::codecs
