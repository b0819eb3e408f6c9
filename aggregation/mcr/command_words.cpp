// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/command_words.hpp"

#include "aggregation/mcr/pages.hpp"
#include "aggregation/mcr/python_command.hpp"

namespace mcr::aggregation {
namespace {

/// Returns the words that the option's CLI::IsMember accepts, from the text "{start,stop}" in its type.
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin);
  if (end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

bool is_hidden(const CLI::Option& option) { return option.get_group().empty(); }

}  // namespace

std::vector<OptionWords> options_of(const CLI::App& app) {
  std::vector<OptionWords> words;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || is_hidden(*option)) continue;
    OptionWords one;
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    one.purpose = option->get_description();
    one.takes_value = option->get_items_expected_max() > 0;
    one.may_repeat = option->get_items_expected_max() > 1;
    one.values = values_of(*option);
    words.push_back(std::move(one));
  }
  return words;
}

std::vector<CommandWords> commands_of(const CLI::App& app) {
  std::vector<CommandWords> words;
  const auto listed = [](const CLI::App* command) { return !command->get_group().empty(); };
  for (const CLI::App* command : app.get_subcommands(listed)) {
    CommandWords one{command->get_name(), command->get_description(), options_of(*command), {}};
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) one.values = values_of(*option);
    }
    words.push_back(std::move(one));
  }
  for (const std::string_view name : python_commands())
    words.push_back({std::string(name), "with the Python package mcr-hdf5", {}, {}});
  for (CommandWords& command : words) {
    if (command.name != "help") continue;
    for (const CommandWords& other : words) command.values.push_back(other.name);
    for (const std::string& page : page_names()) command.values.push_back(page);
  }
  return words;
}

}  // namespace mcr::aggregation
