// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/printable.hpp"

namespace mcr::restart {
namespace {

/// True for characters that a terminal acts upon: controls of ASCII and Latin-1, line separators,
/// and characters that reorder text on the screen.
bool is_obeyed(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

void escape(char c, std::string& out) {
  out += '\\';
  switch (c) {
    case '\n':
      out += 'n';
      return;
    case '\t':
      out += 't';
      return;
    case '\r':
      out += 'r';
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((byte >> shift) & 7));
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true, lead};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (code < least[length] || code > 0x10ffff || is_surrogate) return {};
  return {length, true, code};
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    if (character.is_utf8 && !is_obeyed(character.code)) {
      out += bytes;
    } else {
      for (const char c : bytes) escape(c, out);
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

}  // namespace mcr::restart
