// SPDX-License-Identifier: BSD-3-Clause
// The random 128-bit name of one writing of one part; it is never reused. Consecutive parts of a
// process may share the first half, the *block*: such parts can go into one container, whose name
// contains the block.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

struct PartId {
  /// The maximum number of parts in a block.
  static constexpr std::uint32_t block_parts = 128;

  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const PartId&) const = default;
  /// 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string text() const;
  static std::optional<PartId> parse(std::string_view text);
  /// The first 16 of these digits.
  [[nodiscard]] std::string block() const { return text().substr(0, 16); }
  /// From the kernel's random numbers.
  static Result<PartId> random();
};

}  // namespace mcr::restart
