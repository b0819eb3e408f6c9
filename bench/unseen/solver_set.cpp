// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "bench/unseen/rank_file.hpp"

namespace mcr::bench {

namespace {

/// Solves the heat equation in a square with cold borders and some hot spots, by explicit steps
/// with a five-point stencil.
std::vector<double> heat(Part& part, std::size_t side, int steps) {
  std::vector<double> now(side * side);
  for (int spot = 0; spot < 6; ++spot) {
    const std::size_t top = part.random.below(side / 2);
    const std::size_t left = part.random.below(side / 2);
    for (std::size_t y = top; y < top + side / 8; ++y) {
      for (std::size_t x = left; x < left + side / 8; ++x) now[y * side + x] += 0.3 + 0.1 * spot;
    }
  }
  std::vector<double> next = now;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t y = 1; y + 1 < side; ++y) {
      for (std::size_t x = 1; x + 1 < side; ++x) {
        const std::size_t i = y * side + x;
        next[i] =
            now[i] + 0.2 * (now[i + 1] + now[i - 1] + now[i + side] + now[i - side] - 4 * now[i]);
      }
    }
    now.swap(next);
  }
  return now;
}

}  // namespace

void solver(Part& part) {
  const std::size_t side = part.side(96) * 2;
  const auto temperature = heat(part, side, 300);
  part.file.write("heat64", {side, side}, temperature);
  part.file.write("heat32", {side, side},
                  std::vector<float>(temperature.begin(), temperature.end()));
  // A front, a few cells wide, that is carried along a tube, and the waves behind the front.
  const std::size_t cells = part.count(60000);
  const auto length = static_cast<double>(cells);
  part.file.write("tube64", {cells}, made<double>(cells, [&](std::size_t i) {
                    const double x = static_cast<double>(i) / length;
                    const double front = (x - 0.4 - 0.05 * part.rank) * 60;
                    return 1.1 - front / (1 + std::abs(front)) +
                           0.1 * wave(7.3 * x + 0.1 * part.rank);
                  }));
  // A smooth wave in a box, as double and single precision.
  const std::size_t box = part.side(48);
  const auto pressure = made<double>(box * box * box, [&](std::size_t i) {
    const double x = static_cast<double>(i % box) * 0.013 + 0.618034 * part.rank;
    const double y = static_cast<double>(i / box % box) * 0.017;
    const double z = static_cast<double>(i / box / box) * 0.011;
    return 101325 + 800 * wave(x) * wave(y + 0.3) * wave(z + 0.1 * x);
  });
  part.file.write("pressure64", {box, box, box}, pressure);
  part.file.write("pressure32", {box, box, box},
                  std::vector<float>(pressure.begin(), pressure.end()));
  // Probes: a row of records for each sensor, smooth except for the last bits.
  const std::size_t samples = part.count(20000);
  part.file.write("probes32", {8, samples}, made<float>(8 * samples, [&](std::size_t i) {
                    const auto t = static_cast<double>(i % samples) / 20000;
                    const auto probe = static_cast<double>(i / samples + 8 * part.rank);
                    return 20 + wave(37.7 * t + 0.1 * probe) +
                           0.3 * wave(111.1 * t * (1 + 0.01 * probe)) + 1e-5 * part.random.normal();
                  }));
  part.file.write("counts", {samples}, made<std::int32_t>(samples, [&](std::size_t i) {
                    const auto t = static_cast<double>(i) / 20000;
                    return std::lround(1e5 * wave(17.3 * t + 0.2 * part.rank));
                  }));
}

}  // namespace mcr::bench
