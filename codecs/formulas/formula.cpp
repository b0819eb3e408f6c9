// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/formulas/formula.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace mcr::codecs {
namespace {

int pushed(Operation operation) {
  switch (operation) {
    case Operation::input:
    case Operation::constant:
      return 1;
    case Operation::square_root:
      return 0;
    default:
      return -1;
  }
}

int needed(Operation operation) {
  return operation <= Operation::constant ? 0 : operation == Operation::square_root ? 1 : 2;
}

constexpr std::size_t block = 256;  // words computed at a time: the stack fits the cache

template <typename F>
void binary(Operation operation, F* a, const F* b, std::size_t count) {
  switch (operation) {
    case Operation::add:
      for (std::size_t i = 0; i < count; ++i) a[i] = a[i] + b[i];
      break;
    case Operation::subtract:
      for (std::size_t i = 0; i < count; ++i) a[i] = a[i] - b[i];
      break;
    case Operation::multiply:
      for (std::size_t i = 0; i < count; ++i) a[i] = a[i] * b[i];
      break;
    case Operation::divide:
      for (std::size_t i = 0; i < count; ++i) a[i] = a[i] / b[i];
      break;
    case Operation::larger:
      for (std::size_t i = 0; i < count; ++i) a[i] = a[i] > b[i] ? a[i] : b[i];
      break;
    default:
      for (std::size_t i = 0; i < count; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
      break;
  }
}

}  // namespace

std::size_t Formula::input_count() const {
  std::size_t count = 0;
  for (const Word& word : words) {
    if (word.operation == Operation::input) count = std::max<std::size_t>(count, word.operand + 1U);
  }
  return count;
}

void Formula::write(Writer& out) const {
  out.varint(words.size());
  for (const Word& word : words) {
    out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(word.operation) |
                                     static_cast<unsigned>(word.operand) << 4));
  }
  out.varint(constants.size());
  for (const double constant : constants) out.u64(std::bit_cast<std::uint64_t>(constant));
}

Result<Formula> Formula::read(Reader& in) {
  const auto damaged = [](const char* what) {
    return Error{Cause::damaged, std::string("formula: ") + what};
  };
  Formula formula;
  const std::uint64_t count = MCR_TRY(in.varint_at_most(max_operations, "formula length"));
  int depth = 0;
  std::size_t constants_named = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint8_t byte = MCR_TRY(in.u8());
    const Word word{static_cast<Operation>(byte & 15U), static_cast<std::uint8_t>(byte >> 4)};
    if (word.operation > Operation::smaller) return damaged("no such operation");
    if (word.operand >= max_inputs) return damaged("operand out of bounds");
    if (word.operation == Operation::constant) {
      constants_named = std::max<std::size_t>(constants_named, word.operand + 1U);
    }
    if (depth < needed(word.operation)) return damaged("takes more values than there are");
    depth += pushed(word.operation);
    if (depth > static_cast<int>(max_depth)) return damaged("keeps too many values");
    formula.words.push_back(word);
  }
  if (depth != 1) return damaged("does not leave one value");
  const std::uint64_t constant_count = MCR_TRY(in.varint_at_most(max_constants, "constants"));
  if (constant_count < constants_named) return damaged("names a constant that is not there");
  for (std::uint64_t i = 0; i < constant_count; ++i) {
    formula.constants.push_back(std::bit_cast<double>(MCR_TRY(in.u64())));
  }
  return formula;
}

std::string Formula::print(std::span<const std::string> inputs) const {
  std::vector<std::string> stack;
  for (const Word& word : words) {
    std::string text;
    if (word.operation == Operation::input) {
      text = word.operand < inputs.size() ? inputs[word.operand] : "?";
    } else if (word.operation == Operation::constant) {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.6g", constants[word.operand]);
      text = digits;
    } else if (word.operation == Operation::square_root) {
      text.append("sqrt(").append(stack.back()).append(")");
      stack.pop_back();
    } else {
      constexpr const char* before[] = {"(", "(", "(", "(", "max(", "min("};
      constexpr const char* between[] = {" + ", " - ", " * ", " / ", ", ", ", "};
      constexpr std::size_t rows[] = {0, 0, 0, 1, 2, 3, 0, 4, 5};
      const std::size_t row = rows[static_cast<std::size_t>(word.operation)];
      const std::string right = stack.back();
      stack.pop_back();
      text.append(before[row]).append(stack.back()).append(between[row]).append(right).append(")");
      stack.pop_back();
    }
    stack.push_back(std::move(text));
  }
  return stack.size() == 1 ? stack.front() : "?";
}

template <typename T>
void evaluate(const Formula& formula, std::span<const T* const> inputs, Scratch& scratch,
              std::span<T> result) {
  using F = std::conditional_t<sizeof(T) == 4, float, double>;
  const auto values = scratch.take<F>(Formula::max_depth * block);
  for (std::size_t begin = 0; begin < result.size(); begin += block) {
    const std::size_t count = std::min(block, result.size() - begin);
    F* top = values.data();  // one block beyond the last value
    for (const Formula::Word& word : formula.words) {
      switch (word.operation) {
        case Operation::input:
          std::memcpy(top, inputs[word.operand] + begin, count * sizeof(F));
          top += block;
          break;
        case Operation::constant:
          std::fill_n(top, count, static_cast<F>(formula.constants[word.operand]));
          top += block;
          break;
        case Operation::square_root:
          for (F* at = top - block; at < top - block + count; ++at) *at = std::sqrt(*at);
          break;
        default:
          top -= block;
          binary(word.operation, top - block, top, count);
          break;
      }
    }
    // The bits of a NaN differ between machines, so no NaN may become a prediction.
    const F* value = values.data();
    for (std::size_t i = 0; i < count; ++i) {
      result[begin + i] = value[i] == value[i] ? std::bit_cast<T>(value[i]) : T{0};
    }
  }
}

template void evaluate<std::uint32_t>(const Formula&, std::span<const std::uint32_t* const>,
                                      Scratch&, std::span<std::uint32_t>);
template void evaluate<std::uint64_t>(const Formula&, std::span<const std::uint64_t* const>,
                                      Scratch&, std::span<std::uint64_t>);

}  // namespace mcr::codecs
