// SPDX-License-Identifier: BSD-3-Clause
// The parameter that tells the entropy coder which methods it may use, for every codec that ends in
// that coder. Byte form: nothing for `huffman`, one byte 1 for `smallest`. A decoder does not need
// it.
#pragma once

#include <string>
#include <string_view>

#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs::entropy {

inline Result<Method> read_method(ByteSpan parameters, const char* codec) {
  if (parameters.empty()) return Method::huffman;
  if (parameters.size() == 1 && parameters[0] == std::byte{1}) return Method::smallest;
  return Error{Cause::usage,
               std::string(codec) + ": the parameter is not the one byte 1 (smallest)"};
}

inline Result<Bytes> parse_method(std::string_view text, const char* codec) {
  if (text.empty() || text == "huffman") return Bytes{};
  if (text == "smallest") return Bytes{std::byte{1}};
  return Error{Cause::usage,
               std::string(codec) + ": '" + std::string(text) + "' is none of: huffman, smallest"};
}

inline std::string print_method(ByteSpan parameters) {
  return parameters.empty() ? "" : "smallest";
}

}  // namespace mcr::codecs::entropy
