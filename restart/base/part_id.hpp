// SPDX-License-Identifier: BSD-3-Clause
// The random 128-bit name of one writing of one part. Never reused. Its first half may be one that
// consecutive parts of a process have in common, the *block*: they can go into one container then,
// which is found by that number.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

struct PartId {
  /// Most parts of one block.
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
