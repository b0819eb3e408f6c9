// SPDX-License-Identifier: BSD-3-Clause
#include "restart/settings/pattern_syntax.hpp"

#include <random>
#include <regex>
#include <string>

#include "test/support/catch.hpp"

using mcr::restart::pattern_problem;

namespace {

bool is_taken_by_library(const std::string& pattern) {
  try {
    const std::regex built(pattern);
    return true;
  } catch (const std::regex_error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a regular expression is refused if and only if std::regex refuses it") {
  constexpr std::string_view pieces = "(((())))[[]]{}?:=!*+|^$.,-\\\\\\abcdwxuB0123f";
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    std::string pattern;
    for (std::size_t length = 1 + random() % 12; length > 0; --length)
      pattern += pieces[random() % pieces.size()];
    // Names of character classes are left out, because only std::regex checks them.
    if (pattern.find("[:") != pattern.npos || pattern.find("[.") != pattern.npos ||
        pattern.find("[=") != pattern.npos)
      continue;
    INFO(pattern);
    REQUIRE(pattern_problem(pattern).empty() == is_taken_by_library(pattern));
  }
}

TEST_CASE("the message says what is wrong with a regular expression") {
  CHECK(pattern_problem("^Grid([0-9]+)/[[:alpha:]]*$").empty());
  CHECK(pattern_problem("(") == "a parenthesis is not closed");
  CHECK(pattern_problem("a)") == "a parenthesis is closed that was not opened");
  CHECK(pattern_problem("*.h5") == "a repetition has nothing before it to repeat");
  CHECK(pattern_problem("[abc") == "a bracket is not closed");
  CHECK(pattern_problem("[[:alpha]]") == "the name of a character class has no end");
  CHECK(pattern_problem("a{3,2}") == "a repetition's bounds are wrong");
  CHECK(pattern_problem("[z-a]") == "a range of characters such as a-z does not ascend");
  CHECK(pattern_problem("a\\") == "the expression ends with a backslash");
}

TEST_CASE("a long regular expression needs no more stack than a short one") {
  CHECK_FALSE(pattern_problem(std::string(1'000'000, '(')).empty());
}
