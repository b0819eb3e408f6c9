// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo prediction in one to three dimensions, in integer or floating-point arithmetic. The
// residual is the zigzagged difference to the prediction. A neighbour outside the box counts as
// zero. Ranges must be disjoint, and may have any alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mcr::codecs {

/// Numbers that are predicted together: `volumes` boxes of `planes` x `rows` x `columns`, one after
/// the other. A box is not predicted from another box.
struct LorenzoBox {
  std::size_t volumes = 1;
  std::size_t planes = 1;
  std::size_t rows = 1;
  std::size_t columns = 0;

  [[nodiscard]] std::size_t count() const { return volumes * planes * rows * columns; }
};

/// Integer prediction of words of `size` (1, 2, 4 or 8) bytes, modulo 2^bits: With 0 dimensions the
/// prediction is 0, with one it is the left neighbour; for two and three see spec.md. `zeros` holds
/// one row of zero bytes.
void lorenzo_integer_encode(std::size_t size, int dimensions, const LorenzoBox& box,
                            const std::byte* words, const std::byte* zeros, std::byte* residuals);
void lorenzo_integer_decode(std::size_t size, int dimensions, const LorenzoBox& box,
                            const std::byte* residuals, const std::byte* zeros, std::byte* words);

/// A prediction of an order above 1: up to order 4 in one dimension, order 2 in two and three.
struct LorenzoOrder {
  int dimensions = 1;
  int order = 2;
  /// For words of 4 or 8 bytes; the caller must then hold a DefaultFloatEnvironment.
  bool floating = false;
};
/// Returns how many rows of working memory (`memory`) lorenzo_order_encode() and lorenzo_order_decode()
/// need for a box with `rows` rows. A box of one dimension needs none.
constexpr std::size_t order_memory_rows(std::size_t rows) { return rows < 4 ? 4 : 6; }
void lorenzo_order_encode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* words, std::byte* memory, std::byte* residuals);
void lorenzo_order_decode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* residuals, std::byte* memory, std::byte* words);

/// A row of floating-point numbers that are predicted in one dimension.
struct LorenzoRow {
  const std::byte* residuals = nullptr;
  std::size_t columns = 0;
  std::byte* numbers = nullptr;
};
/// Decodes two rows of numbers of 4 or 8 bytes, with prediction of the same order above 1 in floating
/// point; takes little longer than the longer row alone. The caller must hold a
/// DefaultFloatEnvironment.
void lorenzo_order_decode_two(std::size_t size, int order, const LorenzoRow& first,
                              const LorenzoRow& second);

/// Predicts in binary32 or binary64 (`size` 4 or 8) arithmetic; the residual is the difference of
/// ordered integers. The caller must hold a DefaultFloatEnvironment.
void lorenzo_floating_encode(std::size_t size, int dimensions, const LorenzoBox& box,
                             const std::byte* numbers, const std::byte* zeros,
                             std::byte* residuals);
void lorenzo_floating_decode(std::size_t size, int dimensions, const LorenzoBox& box,
                             const std::byte* residuals, const std::byte* zeros,
                             std::byte* numbers);

}  // namespace mcr::codecs
