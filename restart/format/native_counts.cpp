// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/native_counts.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "restart/format/key_lines.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view captured_key = "captured";

void add_line(std::string& text, std::string_view key, std::uint64_t value) {
  if (value > 0) add_key_line(text, key, std::to_string(value));
}

}  // namespace

void add_counts(NativeCounts& counts, const NativeCounts& more) {
  for (std::size_t i = 0; i < counts.numbers.size(); ++i) counts.numbers[i] += more.numbers[i];
}

std::uint64_t total_of(const NativeCounts& counts) {
  return std::accumulate(counts.numbers.begin(), counts.numbers.end(), std::uint64_t{0});
}

std::string reasons_text(const NativeCounts& counts) {
  const auto& numbers = counts.numbers;
  std::array<std::size_t, native_reasons.size()> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return numbers[a] > numbers[b]; });
  std::string text;
  for (const std::size_t i : order) {
    if (numbers[i] == 0) break;
    text.append(text.empty() ? "" : ", ").append(std::to_string(numbers[i])).append(" ");
    text.append(native_reasons[i].text);
  }
  return text;
}

std::string advice_on(const NativeCounts& counts) {
  if (counts[NativeReason::not_selected] + counts[NativeReason::lone] > 0)
    return "files= selects more files: files=* all of them, files=GLOB those with such names";
  if (counts[NativeReason::stage_full] > 0) return "stage_limit= or a larger stage= makes room";
  return {};
}

std::string write_capture_counts(const CaptureCounts& counts) {
  std::string text;
  add_line(text, captured_key, counts.captured);
  for (std::size_t i = 0; i < native_reasons.size(); ++i)
    add_line(text, native_reasons[i].key, counts.natives.numbers[i]);
  return text;
}

CaptureCounts read_capture_counts(std::string_view text) {
  CaptureCounts counts;
  for_each_key_line(text, [&](std::string_view key, std::string_view number) {
    std::uint64_t value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    if (key == captured_key) counts.captured = value;
    for (std::size_t i = 0; i < native_reasons.size(); ++i) {
      if (native_reasons[i].key == key) counts.natives.numbers[i] = value;
    }
  });
  return counts;
}

}  // namespace mcr::restart
