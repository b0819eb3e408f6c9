// SPDX-License-Identifier: BSD-3-Clause
// Opens libfpzip when the first frame needs it. The plugin is not linked with it: distributions
// have no static libfpzip, and with the shared one the plugin would not load on machines that lack
// it. Its header is not needed either: the types below are those of fpzip.h for libfpzip.so.1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codecs/base/result.hpp"

namespace mcr::codecs {

/// What fpzip.h calls FPZ: a stream of the library, which makes and frees it.
struct FpzipStream {
  int type;       ///< fpzip_float or fpzip_double
  int precision;  ///< bits; 0: all
  int nx, ny, nz, nf;
};
inline constexpr int fpzip_float = 0;
inline constexpr int fpzip_double = 1;

/// The functions in use, and the arithmetic (FPZIP_FP_…) with which the library was built. A
/// library with another arithmetic cannot read this library's streams.
struct FpzipLibrary {
  FpzipStream* (*read_from_buffer)(const void* buffer) = nullptr;
  std::size_t (*read)(FpzipStream*, void* data) = nullptr;
  void (*read_close)(FpzipStream*) = nullptr;
  FpzipStream* (*write_to_buffer)(void* buffer, std::size_t size) = nullptr;
  std::size_t (*write)(FpzipStream*, const void* data) = nullptr;
  void (*write_close)(FpzipStream*) = nullptr;
  std::uint8_t arithmetic = 0;
};

/// Returns the library, which is opened once per process. If it is missing, Cause::unsupported
/// names the package.
Result<const FpzipLibrary*> fpzip_library();

}  // namespace mcr::codecs
