// SPDX-License-Identifier: BSD-3-Clause
// The parameters of the codec `planes`.
#pragma once

#include "codecs/base/bytes.hpp"
#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs {

inline constexpr std::uint32_t largest_plane_element = 64;
inline constexpr int highest_plane_level = 19;
inline constexpr int default_plane_level = 1;

// Byte form: empty, or one byte with zstd's level, plus 128 if tANS is allowed.
struct PlanesParameters {
  int level = default_plane_level;  ///< 0: no zstd
  entropy::Method method = entropy::Method::huffman;
};

inline Result<PlanesParameters> read_planes_parameters(ByteSpan bytes) {
  PlanesParameters parameters;
  if (bytes.empty()) return parameters;
  const int byte = std::to_integer<int>(bytes[0]);
  parameters.level = byte & 0x7f;
  if ((byte & 0x80) != 0) parameters.method = entropy::Method::smallest;
  if (bytes.size() > 1 || parameters.level > highest_plane_level) {
    return Error{Cause::usage,
                 "planes: the parameter is not one byte with a level of zstd from 0 to 19 and the "
                 "flag 128 (smallest)"};
  }
  return parameters;
}

}  // namespace mcr::codecs
