// SPDX-License-Identifier: BSD-3-Clause
// Decoding is a chain along the row, because each number is predicted from the one before. For
// integers, a link of the chain is one addition (a running sum, to which the neighbouring rows are
// added), which is fast. In floating point, a link takes some fifteen cycles. So four rows are
// decoded at once, each one column behind the row above. The neighbour above a number has then just
// been decoded, and is in a register.
#include "codecs/lorenzo/lorenzo.hpp"
#include "codecs/lorenzo/lorenzo_formula.hpp"
#include "codecs/lorenzo/lorenzo_rows.hpp"
#include "codecs/lorenzo/skewed_rows.hpp"

namespace mcr::codecs {
namespace {

template <typename Word, int Dimensions>
MCR_INLINE_LOOP void integer_row(const std::byte* residuals, const RowNeighbours& n,
                                 std::size_t columns, std::byte* out) {
  Word sum = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    const Word difference = unzigzag(at<Word>(residuals, i));
    sum = Dimensions == 0 ? difference : static_cast<Word>(sum + difference);
    Word word = sum;
    if constexpr (Dimensions >= 2) word = static_cast<Word>(word + at<Word>(n.up, i));
    if constexpr (Dimensions >= 3) {
      word = static_cast<Word>(word + at<Word>(n.back, i) - at<Word>(n.back_up, i));
    }
    store(out + i * sizeof(Word), word);
  }
}

template <typename Word, int Dimensions>
MCR_INLINE_LOOP void integer_volume(const LorenzoBox& folded, const std::byte* residuals,
                                    const std::byte* zeros, std::byte* words) {
  const std::size_t row_bytes = folded.columns * sizeof(Word);
  for (std::size_t plane = 0; plane < folded.planes; ++plane) {
    for (std::size_t row = 0; row < folded.rows; ++row) {
      const std::size_t offset = (plane * folded.rows + row) * row_bytes;
      integer_row<Word, Dimensions>(residuals + offset,
                                    neighbours_of(words, zeros, row_bytes, folded.rows, plane, row),
                                    folded.columns, words + offset);
    }
  }
}

/// Decodes `Rows` neighbouring rows of one plane at once. `above` is the row before the first of
/// them, `back` the same row as the first in the plane before, and `back_above` the row before
/// `back`.
template <typename Word, int Dimensions, std::size_t Rows>
MCR_INLINE_LOOP void floating_rows(const std::byte* residuals, const std::byte* above,
                                   const std::byte* back, const std::byte* back_above,
                                   std::size_t back_row_bytes, std::size_t columns,
                                   std::byte* out) {
  using Float = FloatOf<Word>;
  const std::size_t row_bytes = columns * sizeof(Word);
  Float left[Rows] = {};       // each row's newest number
  Float up_left[Rows] = {};    // the number above it
  Float back_left[Rows] = {};  // the number behind it
  Float back_step[Rows] = {};  // that number minus its own left neighbour
  Float back_above_left = 0;   // the same for the row above the first
  // One number of row r, which is at column i when the first row is at column i + r.
  const auto step = [&](std::size_t r, std::size_t i) MCR_INLINE_LAMBDA {
    const Float up = r == 0 ? (Dimensions >= 2 ? at<Float>(above, i) : Float{0}) : left[r - 1];
    Float prediction = left[r];
    if constexpr (Dimensions == 2) prediction = predict_2d(left[r], up, up_left[r]);
    if constexpr (Dimensions == 3) {
      const auto back_here = at<Float>(back + r * back_row_bytes, i);
      Float back_up_step;
      if (r == 0) {
        const auto back_up_here = at<Float>(back_above, i);
        back_up_step = back_up_here - back_above_left;
        back_above_left = back_up_here;
      } else {
        back_up_step = back_step[r - 1];
      }
      back_step[r] = back_here - back_left[r];
      back_left[r] = back_here;
      prediction = predict_3d(left[r], up, up_left[r], back_step[r], back_up_step);
    }
    up_left[r] = up;
    const std::size_t offset = r * row_bytes + i * sizeof(Word);
    left[r] = floating_number<Word>(load<Word>(residuals + offset), prediction);
    store(out + offset, left[r]);
  };
  run_skewed<Rows>(columns, step);
}

template <typename Word, int Dimensions>
MCR_INLINE_LOOP void floating_volume(const LorenzoBox& folded, const std::byte* residuals,
                                     const std::byte* zeros, std::byte* numbers) {
  constexpr std::size_t group = 4;
  const std::size_t columns = folded.columns;
  const std::size_t row_bytes = columns * sizeof(Word);
  for (std::size_t plane = 0; plane < folded.planes; ++plane) {
    for (std::size_t row = 0; row < folded.rows;) {
      const RowNeighbours n = neighbours_of(numbers, zeros, row_bytes, folded.rows, plane, row);
      const std::size_t offset = (plane * folded.rows + row) * row_bytes;
      const std::size_t back_row_bytes =
          plane != 0 ? row_bytes : 0;  // the row of zeros serves for all rows
      if (Dimensions >= 2 && folded.rows - row >= group) {
        floating_rows<Word, Dimensions, group>(residuals + offset, n.up, n.back, n.back_up,
                                               back_row_bytes, columns, numbers + offset);
        row += group;
      } else {
        floating_rows<Word, Dimensions, 1>(residuals + offset, n.up, n.back, n.back_up,
                                           back_row_bytes, columns, numbers + offset);
        ++row;
      }
    }
  }
}

template <typename Word, int Dimensions, bool Floating>
MCR_INLINE_LOOP void decode_loop(const LorenzoBox& folded, const std::byte* residuals,
                                 const std::byte* zeros, std::byte* words) {
  const std::size_t volume_bytes = folded.planes * folded.rows * folded.columns * sizeof(Word);
  for (std::size_t volume = 0; volume < folded.volumes; ++volume) {
    if constexpr (!Floating) {
      integer_volume<Word, Dimensions>(folded, residuals, zeros, words);
    } else if constexpr (Dimensions == 0) {
      for (std::size_t i = 0; i < folded.columns; ++i) {
        store(words + i * sizeof(Word), floating_number<Word>(at<Word>(residuals, i), 0));
      }
    } else {
      floating_volume<Word, Dimensions>(folded, residuals, zeros, words);
    }
    residuals += volume_bytes;
    words += volume_bytes;
  }
}

template <typename Word, bool Floating>
void decode(int dimensions, const LorenzoBox& box, const std::byte* residuals,
            const std::byte* zeros, std::byte* words) {
  const LorenzoBox folded = box_for(dimensions, box);
  if (folded.count() == 0) return;
  const auto run = [&]<int Dimensions>() {
    cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      decode_loop<Word, Dimensions, Floating>(folded, residuals, zeros, words);
    });
  };
  switch (dimensions) {
    case 0:
      return run.template operator()<0>();
    case 1:
      return run.template operator()<1>();
    case 2:
      return run.template operator()<2>();
    default:
      return run.template operator()<3>();
  }
}

}  // namespace

void lorenzo_integer_decode(std::size_t size, int dimensions, const LorenzoBox& box,
                            const std::byte* residuals, const std::byte* zeros, std::byte* words) {
  with_word(size, [&]<typename Word>(Word) {
    decode<Word, false>(dimensions, box, residuals, zeros, words);
  });
}

void lorenzo_floating_decode(std::size_t size, int dimensions, const LorenzoBox& box,
                             const std::byte* residuals, const std::byte* zeros,
                             std::byte* numbers) {
  if (size == 8) return decode<std::uint64_t, true>(dimensions, box, residuals, zeros, numbers);
  return decode<std::uint32_t, true>(dimensions, box, residuals, zeros, numbers);
}

}  // namespace mcr::codecs
