// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/capture_rule.hpp"

#include <algorithm>
#include <charconv>

#include "restart/format/journal.hpp"
#include "restart/format/mask_words.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::vol {

namespace {

using restart::part_word;
using restart::rank_word;

constexpr std::string_view set_word = "{set}";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_rank(std::string_view digits, std::uint32_t rank) {
  std::uint32_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return result.ec == std::errc() && result.ptr == digits.data() + digits.size() && value == rank;
}

// Matches a glob from left to right with backtracking, and builds the masked text when the
// recursion returns. A budget bounds the work for globs with many stars.
class Matcher {
 public:
  Matcher(std::uint32_t rank) : rank_(rank) {}

  std::optional<std::string> match(std::string_view glob, std::string_view text) {
    if (budget_ == 0) return std::nullopt;
    --budget_;
    if (glob.empty()) return text.empty() ? std::optional<std::string>("") : std::nullopt;
    if (glob.starts_with(rank_word)) return digits(glob.substr(rank_word.size()), text, rank_word);
    if (glob.starts_with(part_word)) return digits(glob.substr(part_word.size()), text, part_word);
    if (glob.starts_with(set_word)) return any(glob.substr(set_word.size()), text);
    if (glob.front() == '*') return any(glob.substr(1), text);
    if (text.empty()) return std::nullopt;
    if (glob.front() == '?') return text.front() == '/' ? std::nullopt : one(glob.substr(1), text);
    if (glob.front() == '[') {
      const auto end = glob.find(']', 2);
      if (end != std::string_view::npos) {
        return in_set(glob.substr(1, end - 1), text.front()) ? one(glob.substr(end + 1), text)
                                                             : std::nullopt;
      }
    }
    return glob.front() == text.front() ? one(glob.substr(1), text) : std::nullopt;
  }

 private:
  std::optional<std::string> one(std::string_view glob, std::string_view text) {
    auto rest = match(glob, text.substr(1));
    if (rest) rest->insert(rest->begin(), text.front());
    return rest;
  }

  // Tries the longest run within the component first.
  std::optional<std::string> any(std::string_view glob, std::string_view text) {
    for (std::size_t length = std::min(text.find('/'), text.size()) + 1; length-- > 0;) {
      if (auto rest = match(glob, text.substr(length)))
        return std::string(text.substr(0, length)) + *rest;
    }
    return std::nullopt;
  }

  // Takes a whole run of digits, never a part of one.
  std::optional<std::string> digits(std::string_view glob, std::string_view text,
                                    std::string_view word) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    const auto length = static_cast<std::size_t>(end - text.begin());
    if (length == 0 || (word == rank_word && !is_rank(text.substr(0, length), rank_)))
      return std::nullopt;
    auto rest = match(glob, text.substr(length));
    if (rest) rest->insert(0, word);
    return rest;
  }

  static bool in_set(std::string_view set, char c) {
    const bool inverted = set.starts_with('!') || set.starts_with('^');
    if (inverted) set.remove_prefix(1);
    bool found = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (i + 2 < set.size() && set[i + 1] == '-') {
        found = found || (set[i] <= c && c <= set[i + 2]);
        i += 2;
      } else {
        found = found || set[i] == c;
      }
    }
    return found != inverted && c != '/';
  }

  std::uint32_t rank_;
  std::size_t budget_ = 100'000;
};

}  // namespace

std::optional<std::string> match_glob(std::string_view glob, std::string_view path,
                                      std::uint32_t rank) {
  std::size_t begin = 0;
  if (!glob.starts_with('/')) {
    const auto components = std::count(glob.begin(), glob.end(), '/') + 1;
    begin = path.size();
    for (std::ptrdiff_t i = 0; i < components; ++i) {
      begin = begin == 0 ? std::string_view::npos : path.rfind('/', begin - 1);
      if (begin == std::string_view::npos) return std::nullopt;
    }
    ++begin;
  }
  auto masked = Matcher(rank).match(glob, path.substr(begin));
  if (masked) masked->insert(0, path.substr(0, begin));
  return masked;
}

namespace {

std::vector<std::string_view> items_of(std::string_view files) {
  std::vector<std::string_view> items;
  while (!files.empty()) {
    const std::string_view item = files.substr(0, files.find(';'));
    files.remove_prefix(std::min(files.size(), item.size() + 1));
    if (!item.empty()) items.push_back(item);
  }
  return items;
}

bool says_where_the_number_is(std::string_view item) {
  return item.find(rank_word) != std::string_view::npos ||
         item.find(part_word) != std::string_view::npos;
}

}  // namespace

CapturedNames captured_names(const NameQuestion& question) {
  const auto automatic = [&] {
    return restart::masked_full_names(question.path_as_passed, question.path, question.rank,
                                      question.rank_count);
  };
  const std::vector<std::string_view> items = items_of(question.files);
  CapturedNames captured;
  // `auto` may take another number for the rank, in some ranks only.
  for (const std::string_view item : items) {
    if (!says_where_the_number_is(item)) continue;
    if (const auto masked = match_glob(item, question.path, question.rank)) {
      captured.masked_names = {*masked};
      return captured;
    }
  }
  for (const std::string_view item : items) {
    if (item == "auto") {
      captured.by_auto = true;
      captured.masked_names = automatic();
      if (!captured.masked_names.empty()) return captured;
      continue;
    }
    if (says_where_the_number_is(item)) continue;
    if (item != "*" && !match_glob(item, question.path, question.rank)) continue;
    captured.by_auto = false;
    captured.masked_names = automatic();
    if (question.rank_count > 1 || captured.masked_names.empty()) {
      if (captured.masked_names.size() == restart::max_masked_names)
        captured.masked_names.pop_back();
      captured.masked_names.emplace_back(question.path);
    }
    return captured;
  }
  return captured;
}

}  // namespace mcr::vol
