// SPDX-License-Identifier: BSD-3-Clause
// Solves the least squares of the sampled taps against the sampled numbers by Householder QR.
// Normal equations would lose all digits, because the neighbours in a smooth field are nearly
// dependent. A second round weighs each sample by the inverse root of its residual (least absolute
// deviations), because the logarithm of the residual counts: a few shocks must not spoil the fit of
// the smooth rest.
#include "codecs/base/float_environment.hpp"
#include "codecs/stencil/stencil.hpp"
#include "codecs/stencil/stencil_taps.hpp"

namespace mcr::codecs {
namespace {

using namespace stencil_detail;

constexpr std::size_t row_words =
    stencil_taps + 1;  // words of a row: the taps, then the number itself

/// Reads number `i` of a range of either size as double.
double number_at(const std::byte* numbers, std::size_t size, std::ptrdiff_t i) {
  return size == 8 ? load<double>(numbers + i * 8)
                   : static_cast<double>(load<float>(numbers + i * 4));
}

/// Returns the rank of the bricks that hold most numbers.
unsigned commonest_rank(const Layout& layout) {
  std::array<std::uint64_t, 4> counts{};
  for (const Shape& brick : layout.bricks) counts[stencil_rank(brick)] += brick.count();
  return static_cast<unsigned>(std::ranges::max_element(counts.begin() + 1, counts.end()) -
                               counts.begin());
}

/// Samples rows of taps and number, at most stencil_fit_samples of them, evenly over all inner
/// numbers.
std::size_t take_samples(const std::byte* raw, const Layout& layout, unsigned rank, double* rows) {
  const Taps& taps = taps_of(rank);
  const Margins margins = margins_of(taps);
  const std::uint64_t step = std::max<std::uint64_t>(1, layout.count() / stencil_fit_samples);
  std::size_t taken = 0;
  std::uint64_t wait = 0;
  for (const Shape& brick : layout.bricks) {
    const Extents extents = extents_of(brick);
    const Offsets offsets = offsets_of(taps, extents);
    for_each_run(extents, margins, stencil_rank(brick) == rank,
                 [&](std::size_t begin, std::size_t end, bool inner) {
                   if (!inner) return;
                   for (std::uint64_t i = begin + wait; i < end; i += step) {
                     if (taken == stencil_fit_samples) return;
                     double* row = rows + taken * row_words;
                     bool finite = true;
                     for (std::size_t t = 0; t < row_words; ++t) {
                       const auto at = static_cast<std::ptrdiff_t>(i) +
                                       (t < stencil_taps ? offsets[t] : std::ptrdiff_t{0});
                       row[t] = number_at(raw, layout.type.size, at);
                       finite &= std::isfinite(row[t]);
                     }
                     taken += finite;
                   }
                   const std::uint64_t covered = end - begin;
                   wait =
                       wait >= covered ? wait - covered : (step - (covered - wait) % step) % step;
                 });
    raw += brick.count() * layout.type.size;
  }
  return taken;
}

/// Divides all rows by the largest magnitude, so that squares neither overflow nor vanish.
void scale(double* rows, std::size_t count) {
  double largest = 0;
  for (std::size_t i = 0; i < count * row_words; ++i)
    largest = std::max(largest, std::abs(rows[i]));
  if (largest == 0) return;
  for (std::size_t i = 0; i < count * row_words; ++i) rows[i] /= largest;
}

/// Solves the least squares of `count` rows, which it overwrites. Returns false if the taps are
/// dependent.
bool solve(double* rows, std::size_t count, std::array<double, stencil_taps>& solution) {
  for (std::size_t column = 0; column < stencil_taps; ++column) {
    double norm = 0;
    for (std::size_t i = column; i < count; ++i) {
      norm += rows[i * row_words + column] * rows[i * row_words + column];
    }
    norm = std::sqrt(norm);
    double& pivot = rows[column * row_words + column];
    if (norm < 1e-150) return false;
    const double alpha = pivot > 0 ? -norm : norm;
    const double head = pivot - alpha;
    // Reflects along v = (head, rows below): v.v = 2 * norm * |head|.
    const double half_square = norm * std::abs(head);
    for (std::size_t other = column + 1; other < row_words; ++other) {
      double dot = head * rows[column * row_words + other];
      for (std::size_t i = column + 1; i < count; ++i) {
        dot += rows[i * row_words + column] * rows[i * row_words + other];
      }
      const double factor = dot / half_square;
      rows[column * row_words + other] -= factor * head;
      for (std::size_t i = column + 1; i < count; ++i) {
        rows[i * row_words + other] -= factor * rows[i * row_words + column];
      }
    }
    pivot = alpha;
  }
  for (std::size_t column = stencil_taps; column-- > 0;) {
    double sum = rows[column * row_words + stencil_taps];
    for (std::size_t other = column + 1; other < stencil_taps; ++other) {
      sum -= rows[column * row_words + other] * solution[other];
    }
    const double pivot = rows[column * row_words + column];
    // Leaves out a tap that depends on the earlier ones.
    solution[column] = std::abs(pivot) < 1e-13 ? 0 : sum / pivot;
    if (!std::isfinite(solution[column])) return false;
  }
  return true;
}

}  // namespace

Stencil lorenzo_stencil(unsigned rank) {
  Stencil stencil{rank, {}};
  const Taps& taps = taps_of(rank);
  for (std::size_t i = 0; i < stencil_taps; ++i) {
    const int steps = -taps[i].plane - taps[i].row - taps[i].column;
    const bool corner = taps[i].plane >= -1 && taps[i].row >= -1 && taps[i].column >= -1 &&
                        taps[i].row <= 0 && taps[i].column <= 0;
    if (corner) stencil.coefficients[i] = steps % 2 == 1 ? 1 : -1;
  }
  return stencil;
}

Stencil stencil_fit(const std::byte* raw, const Layout& layout, std::span<double> work) {
  const DefaultFloatEnvironment environment;
  Stencil stencil = lorenzo_stencil(commonest_rank(layout));
  double* rows = work.data();
  double* weights = rows + stencil_fit_samples * row_words;
  for (int round = 0; round < 2; ++round) {
    const std::size_t count = take_samples(raw, layout, stencil.rank, rows);
    if (count < 4 * stencil_taps) return stencil;
    scale(rows, count);
    if (round > 0) {
      double mean = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const double* row = rows + i * row_words;
        double residual = row[stencil_taps];
        for (std::size_t t = 0; t < stencil_taps; ++t) {
          residual -= stencil.coefficients[t] * row[t];
        }
        weights[i] = std::abs(residual);
        mean += weights[i] / static_cast<double>(count);
      }
      if (mean == 0) return stencil;
      for (std::size_t i = 0; i < count; ++i) {
        const double weight = 1 / std::sqrt(weights[i] + 1e-3 * mean);
        for (std::size_t t = 0; t < row_words; ++t) rows[i * row_words + t] *= weight;
      }
      scale(rows, count);
    }
    std::array<double, stencil_taps> solution{};
    if (!solve(rows, count, solution)) return stencil;
    stencil.coefficients = solution;
  }
  return stencil;
}

}  // namespace mcr::codecs
