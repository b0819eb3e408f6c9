// SPDX-License-Identifier: BSD-3-Clause
#include "restart/settings/configuration.hpp"

#include <algorithm>
#include <optional>

namespace mcr::restart {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_bare(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '-';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<std::vector<ConfigurationEntry>> parse() {
    if (rest_.starts_with("\xef\xbb\xbf"))
      rest_.remove_prefix(3);  // a byte order mark, which some editors write
    std::string table;
    while (true) {
      skip_empty_lines();
      if (rest_.empty()) return std::move(entries_);
      if (rest_.front() == '[') {
        rest_.remove_prefix(1);
        table = MCR_TRY(key());
        if (!take(']')) return mistake("a table's name must end in ]");
        table += ".";
      } else {
        ConfigurationEntry entry;
        entry.line = line_;
        entry.key = table + MCR_TRY(key());
        if (!take('=')) return mistake("expected = after " + entry.key);
        skip_blanks();
        entry.value = MCR_TRY(value());
        const bool known = std::any_of(entries_.begin(), entries_.end(),
                                       [&](const auto& other) { return other.key == entry.key; });
        if (known) return mistake(entry.key + " is set twice");
        entries_.push_back(std::move(entry));
      }
      skip_blanks();
      skip_comment();
      if (!rest_.empty() && !is_line_end()) return mistake("nothing may follow on the line");
    }
  }

 private:
  Error mistake(const std::string& what) const {
    return Error{Cause::usage, "line " + std::to_string(line_) + ": " + what};
  }

  bool is_line_end() const { return rest_.starts_with('\n') || rest_.starts_with("\r\n"); }

  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  void skip_comment() {
    if (rest_.starts_with('#')) rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
  }
  void skip_empty_lines() {
    while (true) {
      skip_blanks();
      skip_comment();
      if (!is_line_end()) return;
      rest_.remove_prefix(rest_.find('\n') + 1);
      ++line_;
    }
  }

  /// Takes the character if it comes next; skips blanks before it.
  bool take(char wanted) {
    skip_blanks();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Takes bare or quoted words, joined by dots.
  Result<std::string> key() {
    std::string name;
    do {
      skip_blanks();
      if (!name.empty()) name += ".";
      if (rest_.starts_with('"') || rest_.starts_with('\'')) {
        name += MCR_TRY(quoted());
        continue;
      }
      const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_bare);
      const auto length = static_cast<std::size_t>(end - rest_.begin());
      if (length == 0) return mistake("expected the name of a setting");
      name += rest_.substr(0, length);
      rest_.remove_prefix(length);
    } while (take('.'));
    return name;
  }

  /// Takes a text on one line: "…" with escapes, or '…' without.
  Result<std::string> quoted() {
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    std::string text;
    while (!rest_.empty() && rest_.front() != '\n') {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == quote) return text;
      if (c == '\\' && quote == '"') {
        if (rest_.empty()) break;
        constexpr std::string_view written = "\"\\tnr";
        constexpr std::string_view meant = "\"\\\t\n\r";
        const std::size_t which = written.find(rest_.front());
        if (which == std::string_view::npos) return mistake("unknown escape in a text");
        c = meant[which];
        rest_.remove_prefix(1);
      }
      text.push_back(c);
    }
    return mistake("a text must end on its line");
  }

  Result<std::string> list() {
    std::string joined;
    rest_.remove_prefix(1);
    bool first = true;
    while (true) {
      skip_empty_lines();
      if (take(']')) return joined;
      if (!first) {
        if (!take(',')) return mistake("expected , or ] in a list");
        skip_empty_lines();
        if (take(']')) return joined;
      }
      if (!rest_.starts_with('"') && !rest_.starts_with('\'')) return mistake("a list is of texts");
      if (!first) joined += ";";
      joined += MCR_TRY(quoted());
      first = false;
    }
  }

  Result<std::string> value() {
    if (rest_.starts_with('"') || rest_.starts_with('\'')) return quoted();
    if (rest_.starts_with('[')) return list();
    const std::size_t length = std::min(rest_.find_first_of(" \t\r\n#"), rest_.size());
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (word == "true") return std::string("on");
    if (word == "false") return std::string("off");
    const bool number = !word.empty() && std::all_of(word.begin(), word.end(), is_digit);
    if (number && (word.size() == 1 || word.front() != '0')) return std::string(word);
    return mistake("a value must be a \"text\", a whole number, true, false, or a list of texts");
  }

  std::string_view rest_;
  unsigned line_ = 1;
  std::vector<ConfigurationEntry> entries_;
};

}  // namespace

Result<std::vector<ConfigurationEntry>> parse_configuration(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace mcr::restart
