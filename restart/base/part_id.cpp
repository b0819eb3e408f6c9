// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/part_id.hpp"

#include <cerrno>

#include "restart/base/file.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

}  // namespace

std::string PartId::text() const {
  std::string result;
  result.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    result.push_back(digits[byte >> 4]);
    result.push_back(digits[byte & 15]);
  }
  return result;
}

std::optional<PartId> PartId::parse(std::string_view text) {
  PartId id;
  if (text.size() != 2 * id.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t value = digits.find(text[i]);
    if (value == std::string_view::npos) return std::nullopt;
    id.bytes[i / 2] =
        static_cast<std::uint8_t>(static_cast<unsigned>(id.bytes[i / 2]) << 4 | value);
  }
  return id;
}

Result<PartId> PartId::random() {
  PartId id;
  std::size_t done = 0;
  while (done < id.bytes.size()) {
    const ssize_t got = system_calls().getrandom(id.bytes.data() + done, id.bytes.size() - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return system_error("cannot get random numbers", {});
    done += static_cast<std::size_t>(got);
  }
  return id;
}

}  // namespace mcr::restart
