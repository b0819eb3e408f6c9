// SPDX-License-Identifier: BSD-3-Clause
// Helpers for codecs to read their parameters from text: words between commas, and whole numbers.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "codecs/base/result.hpp"

namespace mcr {

/// Removes the first word of "a, b, c" from `text` and returns it; returns "" if no word is left.
inline std::string_view next_word(std::string_view& text) {
  const std::size_t comma = text.find(',');
  std::string_view word = text.substr(0, comma);
  text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
  while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
  return word;
}

/// Parses `word` as a whole number from `low` to `high`; otherwise Cause::usage, with `what` as the
/// number's name in the message.
inline Result<int> number_in(std::string_view word, int low, int high, const char* what) {
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < low || value > high) {
    return Error{Cause::usage, std::string(what) + " '" + std::string(word) +
                                   "' is not a number from " + std::to_string(low) + " to " +
                                   std::to_string(high)};
  }
  return value;
}

}  // namespace mcr
