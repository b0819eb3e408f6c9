// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "codecs/constant/constant.hpp"

namespace mcr::codecs {

bool is_constant(const std::byte* elements, std::size_t count, std::size_t size) {
  // All elements are equal if the array equals itself shifted by one element.
  return count < 2 || std::memcmp(elements, elements + size, (count - 1) * size) == 0;
}

}  // namespace mcr::codecs
