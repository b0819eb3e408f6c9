// SPDX-License-Identifier: BSD-3-Clause
// mcr help [TOPIC]: shows a page of the guide, or the manual page of a command; without a topic, lists both.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <utility>

#include "aggregation/mcr/command_words.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/pager.hpp"
#include "aggregation/mcr/pages.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/python_command.hpp"
#include "aggregation/mcr/surroundings.hpp"

namespace mcr::aggregation {
namespace {

/// Returns how many characters must be inserted, removed or replaced to turn one word into the other.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// Returns the topics, separated by commas, that contain `word` or that differ from it by a typing error.
std::string near_topics(const std::string& word, const std::vector<std::string>& topics) {
  std::string text;
  for (const std::string& topic : topics) {
    const bool is_part = word.size() > 1 && topic.find(word) != std::string::npos;
    if (!is_part && edit_distance(word, topic) > (word.size() + 2) / 3) continue;
    text += (text.empty() ? "" : ", ") + topic;
  }
  return text;
}

int list_topics(const CommonOptions& common, const CLI::App& app) {
  Table pages({"page", "title"}, {false, false});
  nlohmann::json json{{"pages", nlohmann::json::object()}, {"commands", nlohmann::json::object()}};
  for (const std::string& name : page_names()) {
    const auto text = read_page(name);
    if (!text) continue;  // this installation has no pages
    pages.add({name, title_of(*text)});
    json["pages"][name] = title_of(*text);
  }
  Table commands({"command", "purpose"}, {false, false});
  for (const CommandWords& command : commands_of(app)) {
    commands.add({command.name, command.purpose});
    json["commands"][command.name] = command.purpose;
  }
  if (common.json) {
    print_json(json);
    return exit_code::success;
  }
  pages.print();
  std::fputs("\n", stdout);
  commands.print();
  std::fputs("\n`mcr help TOPIC` shows a page or a command's manual page.\n", stdout);
  return exit_code::success;
}

int show_page(const CommonOptions& common, const std::string& name) {
  const auto text = read_page(name);
  if (!text) return print_error(common, "help", text.error());
  if (common.json) {
    print_json({{"topic", name}, {"text", *text}});
  } else {
    show_text(*text);
  }
  return exit_code::success;
}

/// Shows the manual page. Without it, or without a usable `man`, shows `options`, which --help prints.
int show_manual(const CommonOptions& common, const std::string& name, const std::string& options) {
  if (common.json) {
    print_json({{"topic", name}, {"text", options}});
    return exit_code::success;
  }
  if (const std::string page = manual_page(name); !page.empty()) {
    const auto status = run_program({"man", page}, original_environment(), false);
    if (status && *status == 0) return exit_code::success;
  }
  show_text(options);
  return exit_code::success;
}

int show_command(const CommonOptions& common, const CLI::App& app, const std::string& name) {
  return show_manual(common, name, app.get_subcommand(name)->help("mcr"));
}

/// The page of mcr itself.
int show_overview(const CommonOptions& common, const CLI::App& app) {
  return show_manual(common, "", app.help());
}

int show_topic(const CommonOptions& common, const CLI::App& app, const std::string& topic) {
  if (topic.empty()) return list_topics(common, app);
  if (is_python_command(topic) && common.json)
    return print_error(
        common, "help",
        Error{Cause::usage, "the help of " + topic + " is text only: leave out --json"});
  if (is_python_command(topic)) return run_python_command({topic, "--help"});
  if (topic == "mcr") return show_overview(common, app);
  const auto pages = page_names();
  if (std::find(pages.begin(), pages.end(), topic) != pages.end()) return show_page(common, topic);
  std::vector<std::string> topics = pages;
  for (const CommandWords& command : commands_of(app)) {
    if (command.name == topic) return show_command(common, app, topic);
    topics.push_back(command.name);
  }
  std::string near = near_topics(topic, topics);
  if (!near.empty()) near = "similar: " + near + "; ";
  return print_error(common, "help",
                     Error{Cause::usage, "there is no page and no command " + topic + "; " + near +
                                             "`mcr help` lists all"});
}

}  // namespace

RunCommand declare_help(CLI::App& app) {
  const auto topic = std::make_shared<std::string>();
  app.add_option("TOPIC", *topic, "a page of the guide, or a command; default: list them");
  app.footer(
      "On a terminal, a page goes through $PAGER, and a manual page through `man`.\nExit codes: 0 "
      "done; 1 the page is not installed; 2 there is no such topic.");
  return [&app, topic](const CommonOptions& common) {
    return show_topic(common, *app.get_parent(), *topic);
  };
}

}  // namespace mcr::aggregation
