// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "codecs/stencil/stencil_codec.hpp"
#include "test/support/catch.hpp"

using namespace mcr;
using namespace mcr::codecs;

namespace {

template <typename Number>
Layout floats(Shape brick) {
  return {{ElementKind::floating, sizeof(Number), false}, {brick}};
}

template <typename Number>
Bytes residuals_of(const std::vector<Number>& numbers, const Layout& layout, ByteSpan parameters) {
  Scratch scratch;
  Bytes out;
  REQUIRE(
      stencil_codec().encode(std::as_bytes(std::span(numbers)), layout, parameters, scratch, out));
  Bytes back(out.size());
  REQUIRE(stencil_codec().decode(out, layout, parameters, scratch, back));
  REQUIRE(std::ranges::equal(back, std::as_bytes(std::span(numbers))));
  return out;
}

template <typename Number>
Bytes fitted(const std::vector<Number>& numbers, const Layout& layout) {
  Scratch scratch;
  auto parameters = fit_stencil_parameters(std::as_bytes(std::span(numbers)), layout, scratch);
  REQUIRE(parameters);
  return *parameters;
}

template <typename Word>
double mean_bits(const Bytes& residuals) {
  double bits = 0;
  for (std::size_t i = 0; i < residuals.size(); i += sizeof(Word)) {
    bits += std::log2(1.0 + static_cast<double>(load<Word>(residuals.data() + i)));
  }
  return bits / (static_cast<double>(residuals.size()) / sizeof(Word));
}

/// A smooth field on which a five-point stencil is much better than Lorenzo's.
std::vector<double> waves(std::size_t rows, std::size_t columns) {
  std::vector<double> field(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      field[i * columns + j] =
          3 + std::sin(0.31 * static_cast<double>(i)) * std::cos(0.23 * static_cast<double>(j));
    }
  }
  return field;
}

}  // namespace

TEST_CASE("stencil stores the example of its spec") {
  const Bytes out = residuals_of<double>({1.0, 1.0}, floats<double>(Shape::flat(2)), {});
  CHECK(load<std::uint64_t>(out.data()) == 0x7fe0000000000000U);
  CHECK(load<std::uint64_t>(out.data() + 8) == 0);
}

TEST_CASE("a fitted stencil predicts waves far better than Lorenzo's coefficients") {
  const Layout layout = floats<double>({2, {128, 96}});
  const auto field = waves(128, 96);
  const double lorenzo = mean_bits<std::uint64_t>(residuals_of(field, layout, {}));
  const double fit = mean_bits<std::uint64_t>(residuals_of(field, layout, fitted(field, layout)));
  CHECK(fit + 15 < lorenzo);
}

TEST_CASE("a stencil is fitted to three dimensions of float") {
  Layout layout = floats<float>({3, {24, 24, 24}});
  std::vector<float> field;
  for (int k = 0; k < 24; ++k)
    for (int j = 0; j < 24; ++j)
      for (int i = 0; i < 24; ++i)
        field.push_back(static_cast<float>(std::exp(-0.001 * (k * k + 2 * j * j + 3 * i * i))));
  const double lorenzo = mean_bits<std::uint32_t>(residuals_of(field, layout, {}));
  const double fit = mean_bits<std::uint32_t>(residuals_of(field, layout, fitted(field, layout)));
  CHECK(fit < lorenzo);
}

TEST_CASE("fitting survives numbers that are not finite, constant, tiny, huge or few") {
  const double infinity = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(7);
  for (const double value : {0.0, 1.0, 1e308, 5e-324, -1e-300, infinity, std::nan("")}) {
    for (const std::size_t count : {0U, 1U, 13U, 100U, 5000U}) {
      std::vector<double> numbers(count, value);
      if (count > 50) numbers[17] = infinity, numbers[33] = std::nan("1");
      const Layout layout = floats<double>(Shape::flat(static_cast<std::uint32_t>(count)));
      residuals_of(numbers, layout, fitted(numbers, layout));
      for (double& number : numbers) number = std::bit_cast<double>(random());
      residuals_of(numbers, layout, fitted(numbers, layout));
    }
  }
}

TEST_CASE("stencil refuses parameters that no encoder writes") {
  const Layout layout = floats<double>(Shape::flat(100));
  Bytes parameters = fitted(std::vector<double>(100, 1.0), layout);
  CHECK(stencil_codec().output(layout, parameters));
  parameters[0] = std::byte{4};
  CHECK(!stencil_codec().output(layout, parameters));
  parameters[0] = std::byte{1};
  store(parameters.data() + 1, little_endian(std::bit_cast<std::uint64_t>(std::nan(""))));
  CHECK(!stencil_codec().output(layout, parameters));
  parameters.pop_back();
  CHECK(!stencil_codec().output(layout, parameters));
}
