// SPDX-License-Identifier: BSD-3-Clause
#include "restart/settings/pattern_syntax.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace mcr::restart {
namespace {

constexpr int no_capture = 0;

class PatternCheck {
 public:
  explicit PatternCheck(std::string_view text) : text_(text) {}

  std::string_view problem() {
    while (problem_.empty() && !at_end()) take_item();
    if (problem_.empty() && !open_.empty()) problem_ = "a parenthesis is not closed";
    return problem_;
  }

 private:
  struct Group {
    int capture = no_capture;  ///< the number of the capture
    bool is_assertion = false;
  };
  /// A member of a bracket expression; only a single character may begin or end a range.
  struct Member {
    enum class Kind : std::uint8_t { none, character, characters } kind = Kind::none;
    char character = 0;

    static Member of(std::optional<char> character) {
      return character ? Member{Kind::character, *character} : Member{Kind::characters};
    }
  };

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void refuse(std::string_view why) {
    if (problem_.empty()) problem_ = why;
  }

  void take_item() {
    const char c = text_[at_++];
    switch (c) {
      case '(':
        return open_group();
      case ')':
        return close_group();
      case '[':
        is_repeatable_ = true;
        return take_set();
      case '|':
      case '^':
      case '$':
        is_repeatable_ = false;
        return;
      case '*':
      case '+':
      case '?':
      case '{':
        if (!is_repeatable_) return refuse("a repetition has nothing before it to repeat");
        if (c == '{') take_count();
        (void)take('?');
        return;
      case '\\':
        return take_escape();
      default:
        is_repeatable_ = true;
    }
  }

  void open_group() {
    is_repeatable_ = false;
    if (!take('?')) return open_.push_back({++captures_, false});
    if (take(':')) return open_.push_back({no_capture, false});
    if (take('=') || take('!')) return open_.push_back({no_capture, true});
    refuse("\"(?\" must go on with ':', '=' or '!'");
  }

  void close_group() {
    if (open_.empty()) return refuse("a parenthesis is closed that was not opened");
    is_repeatable_ = !open_.back().is_assertion;
    open_.pop_back();
  }

  std::optional<int> take_number() {
    int value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || *begin == '-') return std::nullopt;
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  void take_count() {
    const auto least = take_number();
    std::optional<int> most = least;
    if (take(',')) {
      most.reset();
      if (!at_end() && text_[at_] != '}') {
        most = take_number();
        if (!most || *most < least.value_or(0)) return refuse("a repetition's bounds are wrong");
      }
    }
    if (!least || !take('}')) refuse("\"{\" must be a repetition as in {2} or {2,3}");
  }

  void take_escape() {
    if (at_end()) return refuse("the expression ends with a backslash");
    const char c = text_[at_];
    is_repeatable_ = c != 'b' && c != 'B';
    if (c >= '1' && c <= '9') return take_back_reference();
    ++at_;
    (void)take_character_after(c);
  }

  void take_back_reference() {
    const auto number = take_number();
    const bool is_open = std::any_of(open_.begin(), open_.end(), [&](const Group& group) {
      return number && group.capture == *number;
    });
    if (!number || *number > captures_ || is_open)
      refuse("\"\\\" and a number name no group before");
  }

  /// Returns the character that an escape beginning with `c` stands for, if it is a single one.
  std::optional<char> take_character_after(char c) {
    constexpr std::string_view names = "0bfnrtv";
    constexpr std::string_view characters("\0\b\f\n\r\t\v", 7);
    if (const auto found = names.find(c); found != names.npos) return characters[found];
    if (c == 'c') {
      if (at_end()) return refuse("\"\\c\" lacks its letter"), std::nullopt;
      return text_[at_++];
    }
    if (c == 'x' || c == 'u') return take_hexadecimal(c == 'x' ? 2 : 4);
    constexpr std::string_view classes = "dDsSwW";
    if (classes.find(c) != classes.npos) return std::nullopt;
    return c;
  }

  std::optional<char> take_hexadecimal(std::size_t digits) {
    unsigned value = 0;
    const std::string_view text = text_.substr(at_, digits);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || text.size() < digits || end != text.data() + text.size())
      return refuse("\"\\x\" or \"\\u\" lacks its digits"), std::nullopt;
    at_ += digits;
    return static_cast<char>(value);
  }

  void take_set() {
    (void)take('^');
    Member before;
    while (problem_.empty() && !take(']')) {
      if (!take('-')) {
        before = take_member();
        continue;
      }
      if (take(']')) return;
      if (before.kind == Member::Kind::none) {
        before = Member::of('-');
        continue;
      }
      const Member last = take('-') ? Member::of('-') : take_member();
      if (before.kind != Member::Kind::character || last.kind != Member::Kind::character ||
          last.character < before.character)
        refuse("a range of characters such as a-z does not ascend");
      before = {};
    }
  }

  Member take_member() {
    if (at_end()) return refuse("a bracket is not closed"), Member{};
    const char c = text_[at_++];
    if (c == '\\') {
      if (at_end()) return refuse("the expression ends with a backslash"), Member{};
      const char escaped = text_[at_++];
      if (escaped == 'B' || (escaped >= '1' && escaped <= '9'))
        refuse("\"\\B\" and \"\\1\" mean nothing in brackets");
      return Member::of(take_character_after(escaped));
    }
    if (c != '[') return Member::of(c);
    if (at_end()) return refuse("a bracket is not closed"), Member{};
    const char kind = text_[at_];
    if (kind != '.' && kind != ':' && kind != '=') return Member::of(c);
    const std::size_t end = text_.find(kind, ++at_);
    at_ = std::min(end, text_.size() - 1) + 1;
    if (end == text_.npos || !take(']')) refuse("the name of a character class has no end");
    return Member::of({});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Group> open_;
  int captures_ = 0;
  bool is_repeatable_ = false;  ///< whether the item that was taken last may be repeated
  std::string_view problem_;
};

}  // namespace

std::string_view pattern_problem(std::string_view pattern) {
  return PatternCheck(pattern).problem();
}

}  // namespace mcr::restart
