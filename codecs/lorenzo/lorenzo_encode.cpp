// SPDX-License-Identifier: BSD-3-Clause
// Encoding has no chain from number to number, so the compiler vectorizes the loops.
#include "codecs/lorenzo/lorenzo.hpp"
#include "codecs/lorenzo/lorenzo_formula.hpp"
#include "codecs/lorenzo/lorenzo_rows.hpp"

namespace mcr::codecs {
namespace {

/// Returns a number minus its prediction from the neighbouring rows. The prediction along the row
/// is subtracted later.
template <typename Word, int Dimensions>
MCR_INLINE_LOOP Word across(const RowNeighbours& n, std::size_t i) {
  auto word = at<Word>(n.row, i);
  if constexpr (Dimensions >= 2) word = static_cast<Word>(word - at<Word>(n.up, i));
  if constexpr (Dimensions >= 3) {
    word = static_cast<Word>(word - at<Word>(n.back, i) + at<Word>(n.back_up, i));
  }
  return word;
}

template <typename Word, int Dimensions>
MCR_INLINE_LOOP void integer_row(const RowNeighbours& n, std::size_t columns, std::byte* out) {
  const std::size_t first = Dimensions == 0 ? 0 : 1;
  if (Dimensions != 0) store(out, zigzag(across<Word, Dimensions>(n, 0)));
  for (std::size_t i = first; i < columns; ++i) {
    auto word = across<Word, Dimensions>(n, i);
    if constexpr (Dimensions != 0) {
      word = static_cast<Word>(word - across<Word, Dimensions>(n, i - 1));
    }
    store(out + i * sizeof(Word), zigzag(word));
  }
}

template <typename Word, int Dimensions>
MCR_INLINE_LOOP void floating_row(const RowNeighbours& n, std::size_t columns, std::byte* out) {
  using Float = FloatOf<Word>;
  const auto number = [&](std::size_t i, Float left, Float up_left, Float back_left,
                          Float back_up_left) MCR_INLINE_LAMBDA {
    Float prediction = left;
    if constexpr (Dimensions == 0) prediction = 0;
    if constexpr (Dimensions == 2) prediction = predict_2d(left, at<Float>(n.up, i), up_left);
    if constexpr (Dimensions == 3) {
      prediction = predict_3d(left, at<Float>(n.up, i), up_left, at<Float>(n.back, i) - back_left,
                              at<Float>(n.back_up, i) - back_up_left);
    }
    store(out + i * sizeof(Word), floating_residual<Word>(at<Float>(n.row, i), prediction));
  };
  number(0, 0, 0, 0, 0);
  for (std::size_t i = 1; i < columns; ++i) {
    number(i, at<Float>(n.row, i - 1), Dimensions >= 2 ? at<Float>(n.up, i - 1) : 0,
           Dimensions >= 3 ? at<Float>(n.back, i - 1) : 0,
           Dimensions >= 3 ? at<Float>(n.back_up, i - 1) : 0);
  }
}

template <typename Word, int Dimensions, bool Floating>
MCR_INLINE_LOOP void encode_loop(const LorenzoBox& folded, const std::byte* words,
                                 const std::byte* zeros, std::byte* out) {
  const std::size_t row_bytes = folded.columns * sizeof(Word);
  const std::size_t volume_bytes = folded.planes * folded.rows * row_bytes;
  for (std::size_t volume = 0; volume < folded.volumes; ++volume, words += volume_bytes) {
    for (std::size_t plane = 0; plane < folded.planes; ++plane) {
      for (std::size_t row = 0; row < folded.rows; ++row, out += row_bytes) {
        const RowNeighbours n = neighbours_of(words, zeros, row_bytes, folded.rows, plane, row);
        if constexpr (Floating) {
          floating_row<Word, Dimensions>(n, folded.columns, out);
        } else {
          integer_row<Word, Dimensions>(n, folded.columns, out);
        }
      }
    }
  }
}

template <typename Word, bool Floating>
void encode(int dimensions, const LorenzoBox& box, const std::byte* words, const std::byte* zeros,
            std::byte* out) {
  const LorenzoBox folded = box_for(dimensions, box);
  if (folded.count() == 0) return;
  const auto run = [&]<int Dimensions>() {
    cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      encode_loop<Word, Dimensions, Floating>(folded, words, zeros, out);
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

void lorenzo_integer_encode(std::size_t size, int dimensions, const LorenzoBox& box,
                            const std::byte* words, const std::byte* zeros, std::byte* residuals) {
  with_word(size, [&]<typename Word>(Word) {
    encode<Word, false>(dimensions, box, words, zeros, residuals);
  });
}

void lorenzo_floating_encode(std::size_t size, int dimensions, const LorenzoBox& box,
                             const std::byte* numbers, const std::byte* zeros,
                             std::byte* residuals) {
  if (size == 8) return encode<std::uint64_t, true>(dimensions, box, numbers, zeros, residuals);
  return encode<std::uint32_t, true>(dimensions, box, numbers, zeros, residuals);
}

}  // namespace mcr::codecs
