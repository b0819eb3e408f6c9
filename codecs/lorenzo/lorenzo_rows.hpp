// SPDX-License-Identifier: BSD-3-Clause
// Walks the rows of a box together with the neighbouring rows that predict them.
#pragma once

#include "codecs/base/cpu.hpp"
#include "codecs/base/integers.hpp"
#include "codecs/lorenzo/lorenzo.hpp"

namespace mcr::codecs {

template <typename T>
MCR_INLINE_LOOP T at(const std::byte* row, std::size_t i) {
  return load<T>(row + i * sizeof(T));
}

/// A row and its neighbours; rows outside the box are rows of zeros.
struct RowNeighbours {
  const std::byte* row;
  const std::byte* up;
  const std::byte* back;
  const std::byte* back_up;
};

/// Returns the neighbours of a row of `data`, the words of one volume.
inline RowNeighbours neighbours_of(const std::byte* data, const std::byte* zeros,
                                   std::size_t row_bytes, std::size_t rows, std::size_t plane,
                                   std::size_t row) {
  const std::byte* const here = data + (plane * rows + row) * row_bytes;
  const std::byte* const back = plane != 0 ? here - rows * row_bytes : zeros;
  return {here, row != 0 ? here - row_bytes : zeros, back,
          plane != 0 && row != 0 ? back - row_bytes : zeros};
}

/// Returns the box for a prediction in `dimensions` dimensions, with the other dimensions folded.
inline LorenzoBox box_for(int dimensions, const LorenzoBox& box) {
  if (dimensions >= 3) return box;
  if (dimensions == 2) return {box.volumes * box.planes, 1, box.rows, box.columns};
  return {1, 1, 1, box.count()};
}

}  // namespace mcr::codecs
