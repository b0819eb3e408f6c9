// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "codecs/constant/constant.hpp"

namespace mcr::codecs {

void constant_decode(const std::byte* element, std::size_t size, std::size_t count, std::byte* to) {
  if (count == 0) return;
  std::memcpy(to, element, size);
  const std::size_t total = count * size;
  for (std::size_t done = size; done < total;) {  // each copy doubles the filled bytes
    const std::size_t piece = std::min(done, total - done);
    std::memcpy(to + done, to, piece);
    done += piece;
  }
}

}  // namespace mcr::codecs
