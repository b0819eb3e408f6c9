// SPDX-License-Identifier: BSD-3-Clause
// Sixteen elements of 2^k bytes are 2^k vectors of sixteen bytes. Interleaving the bytes of the
// first half of these vectors with those of the second half (a perfect shuffle) rotates the binary
// address of every byte by one: from (element, byte) = e3 e2 e1 e0 b… to e2 e1 e0 b… e3. After four
// shuffles, the bits of the byte number are in front, which is the transposition. Another k
// shuffles bring the address back to its first form.
//
// The vectors are compiler extensions: interleaving is one instruction on x86-64 (SSE2), AArch64
// and POWER, and a loop elsewhere.
#include "codecs/transpose/transpose.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace mcr::codecs {
namespace {

constexpr std::size_t lane = 16;
using Vector = std::uint8_t __attribute__((vector_size(lane)));

inline Vector load_vector(const std::byte* from) {
  Vector vector;
  std::memcpy(&vector, from, lane);
  return vector;
}
inline void store_vector(std::byte* to, const Vector& vector) { std::memcpy(to, &vector, lane); }

#if __has_builtin(__builtin_shufflevector)
inline Vector interleave_low(const Vector& a, const Vector& b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline Vector interleave_high(const Vector& a, const Vector& b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}
#else  // gcc 11
inline Vector interleave_low(const Vector& a, const Vector& b) {
  return __builtin_shuffle(a, b, Vector{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
}
inline Vector interleave_high(const Vector& a, const Vector& b) {
  return __builtin_shuffle(a, b,
                           Vector{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
}
#endif

template <std::size_t N>
inline void perfect_shuffle(std::array<Vector, N>& v) {
  std::array<Vector, N> mixed;
  for (std::size_t i = 0; i < N / 2; ++i) {
    const Vector low = v[i];
    const Vector high = v[i + N / 2];
    mixed[2 * i] = interleave_low(low, high);
    mixed[2 * i + 1] = interleave_high(low, high);
  }
  v = mixed;
}

template <std::size_t N>
std::size_t encode_blocks(const std::byte* elements, std::size_t count, std::byte* planes) {
  std::size_t i = 0;
  for (; i + lane <= count; i += lane) {
    std::array<Vector, N> v;
    for (std::size_t k = 0; k < N; ++k) v[k] = load_vector(elements + i * N + k * lane);
    for (int round = 0; round < 4; ++round) perfect_shuffle(v);
    for (std::size_t b = 0; b < N; ++b) store_vector(planes + b * count + i, v[b]);
  }
  return i;
}

template <std::size_t N>
std::size_t decode_blocks(const std::byte* planes, std::size_t count, std::byte* elements) {
  constexpr int rounds = N == 2 ? 1 : N == 4 ? 2 : 3;
  std::size_t i = 0;
  for (; i + lane <= count; i += lane) {
    std::array<Vector, N> v;
    for (std::size_t b = 0; b < N; ++b) v[b] = load_vector(planes + b * count + i);
    for (int round = 0; round < rounds; ++round) perfect_shuffle(v);
    for (std::size_t k = 0; k < N; ++k) store_vector(elements + i * N + k * lane, v[k]);
  }
  return i;
}

}  // namespace

void transpose_encode(const std::byte* elements, std::size_t count, std::size_t element_bytes,
                      std::byte* planes) {
  std::size_t done = 0;
  if (element_bytes == 2) done = encode_blocks<2>(elements, count, planes);
  if (element_bytes == 4) done = encode_blocks<4>(elements, count, planes);
  if (element_bytes == 8) done = encode_blocks<8>(elements, count, planes);
  for (std::size_t b = 0; b < element_bytes; ++b) {
    for (std::size_t i = done; i < count; ++i)
      planes[b * count + i] = elements[i * element_bytes + b];
  }
}

void transpose_decode(const std::byte* planes, std::size_t count, std::size_t element_bytes,
                      std::byte* elements) {
  std::size_t done = 0;
  if (element_bytes == 2) done = decode_blocks<2>(planes, count, elements);
  if (element_bytes == 4) done = decode_blocks<4>(planes, count, elements);
  if (element_bytes == 8) done = decode_blocks<8>(planes, count, elements);
  for (std::size_t b = 0; b < element_bytes; ++b) {
    for (std::size_t i = done; i < count; ++i)
      elements[i * element_bytes + b] = planes[b * count + i];
  }
}

}  // namespace mcr::codecs
