// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/launch_summary.hpp"

#include <algorithm>
#include <charconv>

#include "restart/base/printable.hpp"

namespace mcr::restart {
namespace {

void add_line(std::string& text, std::string_view key, std::string_view value) {
  text.append(key).append("=").append(value).append("\n");
}

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
    add_line(text, number.key, std::to_string(summary.*number.field));
  for (const SummaryText& one : summary_texts) {
    const std::string& value = summary.*one.field;
    if (!value.empty()) add_line(text, one.key, printable(value));
  }
  return text;
}

LaunchSummary read_summary(std::string_view text) {
  LaunchSummary summary;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos)
      set_field(summary, line.substr(0, equals), line.substr(equals + 1));
  }
  return summary;
}

}  // namespace mcr::restart
