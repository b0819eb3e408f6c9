// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo prediction in one to three dimensions, by integers or in floating point, and the
// zigzagged difference to it. A neighbour that lies outside the box counts as zero. Ranges are
// disjoint, of any alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mcr::codecs {

/// Numbers that are predicted together: `volumes` boxes one behind the other, each of `planes` x
/// `rows` x `columns`, with nothing predicted from one box to the next.
struct LorenzoBox {
  std::size_t volumes = 1;
  std::size_t planes = 1;
  std::size_t rows = 1;
  std::size_t columns = 0;

  [[nodiscard]] std::size_t count() const { return volumes * planes * rows * columns; }
};

/// Integer prediction of words of `size` (1, 2, 4 or 8) bytes, modulo 2^bits: 0 dimensions predict
/// 0, one the left neighbour, two and three as the formulas of spec.md. `zeros` has the bytes of
/// one row.
void lorenzo_integer_encode(std::size_t size, int dimensions, const LorenzoBox& box,
                            const std::byte* words, const std::byte* zeros, std::byte* residuals);
void lorenzo_integer_decode(std::size_t size, int dimensions, const LorenzoBox& box,
                            const std::byte* residuals, const std::byte* zeros, std::byte* words);

/// How a prediction of an order above 1 is made: one dimension to order 4, two and three of order
/// 2.
struct LorenzoOrder {
  int dimensions = 1;
  int order = 2;
  bool floating = false;  ///< of words of 4 or 8 bytes; the caller then holds an IeeeMode
};
/// `memory` has the bytes of four rows where there are two dimensions or three.
void lorenzo_order_encode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* words, std::byte* memory, std::byte* residuals);
void lorenzo_order_decode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* residuals, std::byte* memory, std::byte* words);

/// Prediction in binary32 or binary64 (`size` 4 or 8) arithmetic; the residual is the difference of
/// ordered integers. The caller holds an IeeeMode.
void lorenzo_floating_encode(std::size_t size, int dimensions, const LorenzoBox& box,
                             const std::byte* numbers, const std::byte* zeros,
                             std::byte* residuals);
void lorenzo_floating_decode(std::size_t size, int dimensions, const LorenzoBox& box,
                             const std::byte* residuals, const std::byte* zeros,
                             std::byte* numbers);

}  // namespace mcr::codecs
