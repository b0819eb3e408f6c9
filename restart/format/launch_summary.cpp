// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/launch_summary.hpp"

#include <charconv>

#include "restart/base/printable.hpp"
#include "restart/format/key_lines.hpp"

namespace mcr::restart {
namespace {

void set_field(LaunchSummary& summary, std::string_view key, std::string_view value) {
  for (const SummaryNumber& number : summary_numbers) {
    if (number.key != key) continue;
    std::from_chars(value.data(), value.data() + value.size(), summary.*number.field);
  }
  for (const SummaryText& one : summary_texts) {
    if (one.key == key) summary.*one.field = value;
  }
}

}  // namespace

std::string write_summary(const LaunchSummary& summary) {
  std::string text;
  for (const SummaryNumber& number : summary_numbers)
    add_key_line(text, number.key, std::to_string(summary.*number.field));
  for (const SummaryText& one : summary_texts) {
    const std::string& value = summary.*one.field;
    if (!value.empty()) add_key_line(text, one.key, printable(value));
  }
  return text;
}

LaunchSummary read_summary(std::string_view text) {
  LaunchSummary summary;
  for_each_key_line(
      text, [&](std::string_view key, std::string_view value) { set_field(summary, key, value); });
  return summary;
}

}  // namespace mcr::restart
