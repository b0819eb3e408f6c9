// SPDX-License-Identifier: BSD-3-Clause
#include <bit>

#include "codecs/base/integers.hpp"
#include "codecs/fpc/fpc.hpp"
#include "codecs/fpc/fpc_predictors.hpp"

namespace mcr::codecs {

std::size_t fpc_encode(const std::byte* values, std::size_t count, unsigned table_log,
                       std::span<std::uint64_t> tables, std::byte* out) {
  FpcPredictors predictors(tables, table_log);
  std::byte* codes = out;
  std::byte* residuals = out + (count + 1) / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = load<std::uint64_t>(values + i * 8);
    const std::uint64_t from_fcm = value ^ predictors.fcm();
    const std::uint64_t from_dfcm = value ^ predictors.dfcm();
    predictors.learn(value);
    const bool second = from_dfcm < from_fcm;
    const std::uint64_t residual = second ? from_dfcm : from_fcm;
    const unsigned code = fpc_code(static_cast<unsigned>(std::countl_zero(residual)) / 8);
    const auto nibble = static_cast<std::byte>(code | (second ? 8U : 0U));
    if (i % 2 == 0) {
      codes[i / 2] = nibble << 4;
    } else {
      codes[i / 2] |= nibble;
    }
    const unsigned bytes = 8 - fpc_zero_bytes(code);
    for (unsigned byte = 0; byte < bytes; ++byte) {
      *residuals++ = static_cast<std::byte>(residual >> (8 * byte));
    }
  }
  return static_cast<std::size_t>(residuals - out);
}

}  // namespace mcr::codecs
