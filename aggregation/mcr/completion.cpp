// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/completion.hpp"

#include "aggregation/mcr/command_words.hpp"
#include "aggregation/mcr/shell_quotes.hpp"

namespace mcr::aggregation {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

std::vector<std::string> names_of(const std::vector<OptionWords>& options) {
  std::vector<std::string> names;
  for (const OptionWords& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// --- bash ---------------------------------------------------------------------------------------

/// The branches of a case on "COMMAND OPTION", for options that take a value.
std::string bash_values(const std::string& command, const std::vector<OptionWords>& options) {
  std::string text;
  for (const OptionWords& option : options) {
    if (!option.takes_value) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names)
      patterns.push_back(in_quotes(command + " " + name));
    text += "    " + joined(patterns, " | ") + ") words=" + in_quotes(joined(option.values, " ")) +
            " ;;\n";
  }
  return text;
}

// --- zsh ----------------------------------------------------------------------------------------

constexpr const char* zsh_escaped = "[]:\\";

/// Returns one option as arguments of _arguments, one for each of its names.
std::string zsh_option(const OptionWords& option) {
  std::string text;
  for (const std::string& name : option.names) {
    std::string spec = option.may_repeat ? "*" : "(" + joined(option.names, " ") + ")";
    const bool is_long = name.starts_with("--");
    spec += name + (option.takes_value ? (is_long ? "=" : "+") : "");
    const std::string help = in_quotes(option.purpose, zsh_escaped);
    const std::string action =
        option.values.empty() ? "_files" : "(" + joined(option.values, " ") + ")";
    text += " \\\n        " + in_quotes(spec + "[") + help + "']" +
            (option.takes_value ? ":value:" + action : "") + "'";
  }
  return text;
}

std::string zsh_command(const CommandWords& command) {
  std::string text = "      " + command.name + ")\n        _arguments";
  for (const OptionWords& option : command.options) text += zsh_option(option);
  text +=
      " \\\n        " + in_quotes("--json[one JSON value on standard output]") + " \\\n        ";
  text += command.values.empty() ? "'*:file:_files'"
                                 : in_quotes("*:word:(" + joined(command.values, " ") + ")");
  return text + " ;;\n";
}

// --- fish ---------------------------------------------------------------------------------------

std::string fish_option(const std::string& condition, const OptionWords& option) {
  std::string text = "complete -c mcr -n " + in_quotes(condition);
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.values.empty()) text += " -x -a " + in_quotes(joined(option.values, " "), "\\");
  if (option.values.empty() && option.takes_value) text += " -r";
  return text + " -d " + in_quotes(option.purpose, "\\") + "\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const std::vector<CommandWords> commands = commands_of(app);
  const std::vector<OptionWords> common = options_of(app);
  std::vector<std::string> first;
  for (const CommandWords& command : commands) first.push_back(command.name);
  std::string text = R"(# Completion of mcr for bash, written by `mcr completion bash`.
_mcr() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' options='' arguments='' word
  local words=none
  COMPREPLY=()
  if [[ $current == = ]]; then # bash takes --profile=fast for three words
    current=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    if [[ $word == -- ]]; then # a program and its arguments follow
      [[ $before != -- ]] || mapfile -t COMPREPLY < <(compgen -c -- "$current")
      return
    fi
    [[ -n $command || $word == -* ]] || command=$word
  done
  case $command in
)";
  text += "    '') options=" + in_quotes(joined(names_of(common), " ")) +
          " arguments=" + in_quotes(joined(first, " ")) + " ;;\n";
  for (const CommandWords& command : commands) {
    text += "    " + command.name +
            ") options=" + in_quotes("--json " + joined(names_of(command.options), " ")) +
            " arguments=" + in_quotes(joined(command.values, " ")) + " ;;\n";
  }
  text += "  esac\n  case \"$command $before\" in\n";
  for (const CommandWords& command : commands) text += bash_values(command.name, command.options);
  return text + R"(    *)
      words=$arguments
      [[ $current != -* ]] || words=$options ;;
  esac
  [[ -n $words ]] || return # files, by -o default below
  compopt +o default +o bashdefault 2> /dev/null
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o bashdefault -o default -F _mcr mcr
)";
}

std::string zsh_completion(const CLI::App& app) {
  std::string text = R"(#compdef mcr
# Completion of mcr for zsh, written by `mcr completion zsh`.
_mcr() {
  local curcontext=$curcontext state line
  local -a commands
  commands=(
)";
  const std::vector<CommandWords> commands = commands_of(app);
  for (const CommandWords& command : commands)
    text += "    " + in_quotes(command.name + ":") + in_quotes(command.purpose, zsh_escaped) + "\n";
  text += "  )\n  _arguments -C";
  for (const OptionWords& option : options_of(app)) text += zsh_option(option);
  text += R"( \
    '1:command:->command' '*::argument:->argument'
  local -i dashes=${words[(i)--]}
  (( dashes <= ${#words} )) || dashes=0
  if [[ $state == command ]]; then
    _describe command commands
  elif (( dashes && dashes < CURRENT )); then # a program and its arguments follow
    shift $dashes words
    (( CURRENT -= dashes ))
    _normal
  else
    case $words[1] in
)";
  for (const CommandWords& command : commands) text += zsh_command(command);
  return text + R"(    esac
  fi
}
if [[ $funcstack[1] == _mcr ]]; then # loaded by compinit
  _mcr "$@"
else # read by `source`
  compdef _mcr mcr
fi
)";
}

std::string fish_completion(const CLI::App& app) {
  const std::vector<CommandWords> commands = commands_of(app);
  std::string text = "# Completion of mcr for fish, written by `mcr completion fish`.\n";
  for (const OptionWords& option : options_of(app))
    text += fish_option("__fish_use_subcommand", option);
  for (const CommandWords& command : commands) {
    text += "complete -c mcr -n __fish_use_subcommand -f -a " + command.name + " -d " +
            in_quotes(command.purpose, "\\") + "\n";
  }
  for (const CommandWords& command : commands) {
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    text += "complete -c mcr -n " + in_quotes(condition) +
            " -l json -d 'one JSON value on standard output'\n";
    for (const OptionWords& option : command.options) text += fish_option(condition, option);
    if (!command.values.empty()) {
      text += "complete -c mcr -n " + in_quotes(condition) + " -f -a " +
              in_quotes(joined(command.values, " "), "\\") + "\n";
    }
  }
  return text;
}

}  // namespace mcr::aggregation
