// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/name_text.hpp"

#include <cstdio>

#include "codecs/base/checksum.hpp"

namespace mcr::restart {

std::string cut_text(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return std::string(text.substr(0, limit));
}

std::string safe_name(std::string_view text, std::size_t limit) {
  std::string name;
  for (const char c : text.substr(0, limit)) {
    const bool kept = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    name.push_back(kept ? c : '_');
  }
  if (name == text && !name.empty()) return name;
  const std::string sum = hexadecimal(checksum(as_bytes(text)));
  return name.substr(0, limit > 17 ? limit - 17 : 0) + "-" + sum;
}

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace mcr::restart
