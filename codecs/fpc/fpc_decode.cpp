// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/integers.hpp"
#include "codecs/fpc/fpc.hpp"
#include "codecs/fpc/fpc_predictors.hpp"

namespace mcr::codecs {

bool fpc_decode(std::span<const std::byte> stored, std::size_t count, unsigned table_log,
                std::span<std::uint64_t> tables, std::byte* values) {
  const std::size_t code_bytes = (count + 1) / 2;
  if (stored.size() < code_bytes) return false;
  FpcPredictors predictors(tables, table_log);
  std::size_t position = code_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto pair = std::to_integer<unsigned>(stored[i / 2]);
    const unsigned nibble = i % 2 == 0 ? pair >> 4 : pair & 15U;
    const unsigned bytes = 8 - fpc_zero_bytes(nibble & 7U);
    if (stored.size() - position < bytes) return false;
    std::uint64_t residual = 0;
    for (unsigned byte = 0; byte < bytes; ++byte) {
      residual |= std::to_integer<std::uint64_t>(stored[position++]) << (8 * byte);
    }
    const std::uint64_t value =
        residual ^ ((nibble & 8U) != 0 ? predictors.dfcm() : predictors.fcm());
    predictors.learn(value);
    store(values + i * 8, value);
  }
  return position == stored.size();
}

}  // namespace mcr::codecs
