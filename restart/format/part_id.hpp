// SPDX-License-Identifier: BSD-3-Clause
// The random 128-bit name of one writing of one part. Never reused, never derived from anything.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

struct PartId {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const PartId&) const = default;
  /// 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string text() const;
  static std::optional<PartId> parse(std::string_view text);
  /// From the kernel's random numbers.
  static Result<PartId> random();
};

}  // namespace mcr::restart
