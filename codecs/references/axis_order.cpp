// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/references/axis_order.hpp"

#include <cstring>

namespace mcr::codecs {
namespace {

// orders[o][t]: the source axis along which the target's axis t runs.
constexpr std::array<std::array<std::uint8_t, 3>, axis_order_count> orders{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

/// Returns k if count is k to the power of `power`, else 0.
std::uint32_t whole_root(std::uint64_t count, unsigned power) {
  std::uint64_t low = 0;
  std::uint64_t high = std::uint64_t{1} << (power == 3 ? 11 : 16);
  while (low < high) {
    const std::uint64_t middle = (low + high + 1) / 2;
    const std::uint64_t value = power == 3 ? middle * middle * middle : middle * middle;
    if (value <= count) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const std::uint64_t value = power == 3 ? low * low * low : low * low;
  return value == count ? static_cast<std::uint32_t>(low) : 0;
}

}  // namespace

Box box_of(const Shape& shape) {
  const auto& e = shape.extent;
  if (shape.rank >= 4) return {e[0] * e[1], e[2], e[3]};
  if (shape.rank == 3) return {e[0], e[1], e[2]};
  if (shape.rank == 2) return {1, e[0], e[1]};
  if (const std::uint32_t k = whole_root(e[0], 3); k >= 3) return {k, k, k};
  if (const std::uint32_t k = whole_root(e[0], 2); k >= 4) return {1, k, k};
  return {1, 1, e[0]};
}

bool fits(const Box& source, const Box& target, AxisOrder order) {
  for (std::size_t t = 0; t < 3; ++t) {
    if (target[t] != source[orders[order][t]]) return false;
  }
  return true;
}

std::array<std::size_t, 3> strides_in(const Box& source, AxisOrder order) {
  const std::array<std::size_t, 3> stride{std::size_t{source[1]} * source[2], source[2], 1};
  return {stride[orders[order][0]], stride[orders[order][1]], stride[orders[order][2]]};
}

template <typename T>
void gather(std::span<const T> from, const Box& source, const Box& target, AxisOrder order,
            std::span<T> to) {
  if (order == same_order) {
    if (!to.empty()) std::memcpy(to.data(), from.data(), to.size_bytes());
    return;
  }
  const auto stride = strides_in(source, order);
  T* out = to.data();
  for (std::size_t i = 0; i < target[0]; ++i) {
    for (std::size_t j = 0; j < target[1]; ++j) {
      const T* row = from.data() + i * stride[0] + j * stride[1];
      for (std::size_t k = 0; k < target[2]; ++k) *out++ = row[k * stride[2]];
    }
  }
}

void gather_index(const Box& source, const Box& target, AxisOrder order,
                  std::span<std::uint32_t> to) {
  const auto stride = strides_in(source, order);
  std::uint32_t* out = to.data();
  for (std::size_t i = 0; i < target[0]; ++i) {
    for (std::size_t j = 0; j < target[1]; ++j) {
      const std::size_t row = i * stride[0] + j * stride[1];
      for (std::size_t k = 0; k < target[2]; ++k) {
        *out++ = static_cast<std::uint32_t>(row + k * stride[2]);
      }
    }
  }
}

template void gather<std::uint32_t>(std::span<const std::uint32_t>, const Box&, const Box&,
                                    AxisOrder, std::span<std::uint32_t>);
template void gather<std::uint64_t>(std::span<const std::uint64_t>, const Box&, const Box&,
                                    AxisOrder, std::span<std::uint64_t>);

}  // namespace mcr::codecs
