// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/node_answers.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "aggregation/mcr/print.hpp"
#include "restart/settings/launcher.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::string_view mark = "mcr-node";

/// Removes the line's first word, and returns it.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

std::optional<int> number_in(std::string_view word) {
  int number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

void print_answer(const std::string& text) {
  print_line(stdout, "%s %s", std::string(mark).c_str(), text.c_str());
  (void)std::fflush(stdout);
}

}  // namespace

void print_node_begin(bool is_served) {
  print_answer(restart::host_name() + " begins" + (is_served ? " served" : ""));
}

void print_node_end(int status, std::optional<bool> has_launches) {
  print_answer(restart::host_name() + " ends " + std::to_string(status) +
               (!has_launches   ? ""
                : *has_launches ? " 1"
                                : " 0"));
}

bool NodeAnswers::take(std::string_view line) {
  if (take_word(line) != mark) return false;
  NodeAnswer& answer = by_node_[std::string(take_word(line))];
  if (take_word(line) == "begins") {
    answer.has_begun = true;
    answer.is_served = line == "served";
    return true;
  }
  answer.status = number_in(take_word(line));
  if (const auto launches = number_in(line)) answer.has_launches = *launches != 0;
  return true;
}

std::size_t NodeAnswers::ended() const {
  return static_cast<std::size_t>(std::count_if(
      by_node_.begin(), by_node_.end(), [](const auto& entry) { return entry.second.status; }));
}

std::string NodeAnswers::never_begun() const {
  return names([](const NodeAnswer& answer) { return answer.status && !answer.has_begun; });
}

int NodeAnswers::worst_status() const {
  int worst = 0;
  for (const auto& [name, answer] : by_node_) worst = std::max(worst, answer.status.value_or(0));
  return worst;
}

std::optional<bool> NodeAnswers::has_launches(std::size_t nodes) const {
  std::size_t without = 0;
  for (const auto& [name, answer] : by_node_) {
    if (answer.has_launches.value_or(false)) return true;
    if (answer.has_launches) ++without;
  }
  return without == nodes ? std::optional(false) : std::nullopt;
}

}  // namespace mcr::aggregation
