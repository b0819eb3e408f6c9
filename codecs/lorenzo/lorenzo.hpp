// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo prediction in one to three dimensions, in integer or floating-point arithmetic, and the
// zigzagged difference to it. A neighbour outside the box counts as zero. Ranges must be disjoint;
// they may have any alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mcr::codecs {

/// Numbers that are predicted together: `volumes` boxes, one after the other, each of `planes` x
/// `rows` x `columns`. Nothing is predicted from one box to the next.
struct LorenzoBox {
  std::size_t volumes = 1;
  std::size_t planes = 1;
  std::size_t rows = 1;
  std::size_t columns = 0;

  [[nodiscard]] std::size_t count() const { return volumes * planes * rows * columns; }
};

/// Integer prediction of words of `size` (1, 2, 4 or 8) bytes, modulo 2^bits: 0 dimensions predict
/// 0, one dimension the left neighbour, two and three follow the formulas of spec.md. `zeros` holds
/// one row of zero bytes.
void lorenzo_integer_encode(std::size_t size, int dimensions, const LorenzoBox& box,
                            const std::byte* words, const std::byte* zeros, std::byte* residuals);
void lorenzo_integer_decode(std::size_t size, int dimensions, const LorenzoBox& box,
                            const std::byte* residuals, const std::byte* zeros, std::byte* words);

/// A prediction of an order above 1: up to order 4 in one dimension, order 2 in two and three.
struct LorenzoOrder {
  int dimensions = 1;
  int order = 2;
  bool floating = false;  ///< of words of 4 or 8 bytes; the caller then holds an IeeeMode
};
/// `memory` holds four rows for two or three dimensions.
void lorenzo_order_encode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* words, std::byte* memory, std::byte* residuals);
void lorenzo_order_decode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* residuals, std::byte* memory, std::byte* words);

/// Predicts in binary32 or binary64 (`size` 4 or 8) arithmetic; the residual is the difference of
/// ordered integers. The caller must hold a DefaultFloatEnvironment.
void lorenzo_floating_encode(std::size_t size, int dimensions, const LorenzoBox& box,
                             const std::byte* numbers, const std::byte* zeros,
                             std::byte* residuals);
void lorenzo_floating_decode(std::size_t size, int dimensions, const LorenzoBox& box,
                             const std::byte* residuals, const std::byte* zeros,
                             std::byte* numbers);

}  // namespace mcr::codecs
