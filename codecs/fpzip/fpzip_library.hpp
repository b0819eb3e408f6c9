// SPDX-License-Identifier: BSD-3-Clause
// Opens libfpzip when the first frame needs it. Distributions have no static fpzip, and a plugin
// linked with the shared one would not load where that is missing.
#pragma once

#include <fpzip.h>

#include <cstdint>

#include "codecs/base/result.hpp"

namespace mcr::codecs {

/// The functions in use, and the arithmetic with which the library was built (FPZIP_FP_…): a
/// library of another kind cannot read its streams.
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
