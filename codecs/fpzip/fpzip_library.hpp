// SPDX-License-Identifier: BSD-3-Clause
// Opens libfpzip when the first frame needs it. The plugin is not linked with it: distributions
// have no static libfpzip, and with the shared one the plugin would not load on machines that lack
// it.
#pragma once

#include <fpzip.h>

#include <cstdint>

#include "codecs/base/result.hpp"

namespace mcr::codecs {

/// The functions in use, and the arithmetic (FPZIP_FP_…) with which the library was built. A
/// library with another arithmetic cannot read this library's streams.
struct FpzipLibrary {
  decltype(&fpzip_read_from_buffer) read_from_buffer = nullptr;
  decltype(&fpzip_read) read = nullptr;
  decltype(&fpzip_read_close) read_close = nullptr;
  decltype(&fpzip_write_to_buffer) write_to_buffer = nullptr;
  decltype(&fpzip_write) write = nullptr;
  decltype(&fpzip_write_close) write_close = nullptr;
  std::uint8_t arithmetic = 0;
};

/// Returns the library, which is opened once per process. If it is missing, Cause::unsupported
/// names the package.
Result<const FpzipLibrary*> fpzip_library();

}  // namespace mcr::codecs
