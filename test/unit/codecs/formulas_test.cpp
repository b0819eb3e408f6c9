// SPDX-License-Identifier: BSD-3-Clause
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "codecs/base/float_environment.hpp"
#include "codecs/formulas/formula.hpp"
#include "codecs/formulas/formula_search.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

using Op = Operation;

template <typename F>
using Word = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

template <typename F>
std::vector<F> random_values(std::size_t count, unsigned seed, F low, F high) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<F> values(low, high);
  std::vector<F> out(count);
  for (F& value : out) value = values(random);
  return out;
}

template <typename F>
std::vector<Word<F>> words_of(const std::vector<F>& values) {
  std::vector<Word<F>> out;
  for (const F value : values) out.push_back(std::bit_cast<Word<F>>(value));
  return out;
}

template <typename F>
std::vector<FoundFormula> search(const std::vector<std::vector<F>>& columns) {
  Samples<Word<F>> samples;
  for (const auto& column : columns) samples.columns.push_back(words_of(column));
  Scratch scratch;
  return find_formulas(samples, scratch);
}

/// The relation between `target` and two inputs is found exactly among columns of noise.
template <typename F, typename Make>
FoundFormula found_for(Make make) {
  const auto a = random_values<F>(96, 1, F(0.5), F(3));
  const auto b = random_values<F>(96, 2, F(1), F(9));
  const auto c = random_values<F>(96, 3, F(-4), F(4));
  std::vector<F> target;
  for (std::size_t i = 0; i < a.size(); ++i) target.push_back(make(a[i], b[i], c[i]));
  return search<F>({a, b, c, target})[3];
}

TEST_CASE("relations between variables are found exactly") {
  const auto exact = [](const FoundFormula& found) { return found.bits_per_word == 0; };
  CHECK(exact(found_for<double>([](double a, double b, double) { return a / b; })));
  CHECK(exact(found_for<double>([](double a, double b, double) { return a * b; })));
  CHECK(exact(found_for<double>([](double a, double b, double) { return a + b; })));
  CHECK(exact(found_for<double>([](double a, double b, double) { return a - b; })));
  CHECK(exact(
      found_for<double>([](double a, double b, double) { return (2.0 / 3.0 * (1 / b)) * a; })));
  CHECK(exact(found_for<double>([](double a, double b, double) { return (2.0 / 3.0 * a) / b; })));
  CHECK(
      exact(found_for<double>([](double a, double, double) { return std::sqrt(10.0 / 9.0 * a); })));
  CHECK(
      exact(found_for<double>([](double a, double b, double) { return std::sqrt(1.4 * a / b); })));
  CHECK(exact(
      found_for<double>([](double a, double b, double c) { return a + 0.5 * (b * b + c * c); })));
  CHECK(
      exact(found_for<double>([](double a, double, double) { return std::fmax(2.5, 1.75 * a); })));
  CHECK(exact(found_for<float>([](float a, float b, float) { return a / b; })));
  CHECK(exact(
      found_for<float>([](float a, float b, float c) { return a + 0.5F * (b * b + c * c); })));
}

TEST_CASE("noise has no formula worth the name") {
  const auto found = search<double>({random_values(96, 1, 0.0, 1.0), random_values(96, 2, 0.0, 1.0),
                                     random_values(96, 3, 0.0, 1.0)});
  for (const FoundFormula& formula : found) CHECK(formula.bits_per_word > 40);
}

TEST_CASE("columns that are constant, empty of numbers or short end the search, not the program") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(search<double>({}).empty());
  CHECK(search<double>({{1, 1, 1}, {2, 2, 2}}).size() == 2);
  CHECK(search<double>({{nan, nan, nan}, {infinite, -infinite, 0}}).size() == 2);
  CHECK(search<double>({{1}, {2}}).size() == 2);
}

TEST_CASE("a formula survives its bytes and says what it computes") {
  Formula formula;
  formula.words = {{Op::constant, 0}, {Op::input, 0},       {Op::multiply, 0}, {Op::input, 1},
                   {Op::divide, 0},   {Op::square_root, 0}, {Op::constant, 1}, {Op::larger, 0}};
  formula.constants = {1.5, 0.25};
  Bytes bytes;
  Writer out(bytes);
  formula.write(out);
  Reader in(bytes);
  const auto read = Formula::read(in);
  REQUIRE(read);
  CHECK(*read == formula);
  CHECK(in.remaining() == 0);
  const std::vector<std::string> names{"p", "rho"};
  CHECK(formula.print(names) == "max(sqrt(((1.5 * p) / rho)), 0.25)");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Reader part(ByteSpan(bytes).first(length));
    CHECK_FALSE(Formula::read(part));
  }
}

TEST_CASE("programs that would leave the stack are refused") {
  const auto refused = [](std::vector<Formula::Word> words) {
    Formula formula;
    formula.words = std::move(words);
    Bytes bytes;
    Writer out(bytes);
    formula.write(out);
    Reader in(bytes);
    return !Formula::read(in);
  };
  CHECK(refused({}));
  CHECK(refused({{Op::add, 0}}));
  CHECK(refused({{Op::input, 0}, {Op::add, 0}}));
  CHECK(refused({{Op::input, 0}, {Op::input, 0}}));
  CHECK(refused({{Op::constant, 0}}));
  CHECK(refused({{Op::square_root, 0}, {Op::input, 0}}));
  CHECK(refused(std::vector<Formula::Word>(9, {Op::input, 0})));
  CHECK(refused(std::vector<Formula::Word>(33, {Op::input, 0})));
  CHECK_FALSE(refused({{Op::input, 7}}));
}

TEST_CASE("a result that is no number predicts zero") {
  Formula formula;
  formula.words = {{Op::input, 0}, {Op::square_root, 0}};
  const auto input = words_of<double>({4.0, -1.0, std::numeric_limits<double>::quiet_NaN()});
  const std::uint64_t* inputs[] = {input.data()};
  std::vector<std::uint64_t> result(3);
  Scratch scratch;
  const DefaultFloatEnvironment environment;
  evaluate<std::uint64_t>(formula, inputs, scratch, result);
  CHECK(result == std::vector<std::uint64_t>{std::bit_cast<std::uint64_t>(2.0), 0, 0});
}

TEST_CASE("the environment of a program's arithmetic is put aside and given back") {
  const int rounding = std::fegetround();
  std::fesetround(FE_UPWARD);
  volatile double three = 3;
  double inside = 0;
  {
    const DefaultFloatEnvironment environment;
    inside = 1 / three;
  }
  const double outside = 1 / three;
  CHECK(std::fegetround() == FE_UPWARD);
  std::fesetround(rounding);
  CHECK(inside == 1.0 / 3.0);
  CHECK(outside > inside);
}

}  // namespace
}  // namespace mcr::codecs
