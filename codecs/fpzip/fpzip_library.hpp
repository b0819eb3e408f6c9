// SPDX-License-Identifier: BSD-3-Clause
// libfpzip, opened when the first frame needs it. Distributions have no static fpzip, and a plugin
// that linked the shared one would not load where it is missing.
#pragma once

#include <fpzip.h>

#include <cstdint>

#include "codecs/base/result.hpp"

namespace mcr::codecs {

/// The functions in use, and how the library was built to compute (FPZIP_FP_…): streams of one kind
/// are not understood by another.
struct FpzipLibrary {
  decltype(&fpzip_read_from_buffer) read_from_buffer = nullptr;
  decltype(&fpzip_read) read = nullptr;
  decltype(&fpzip_read_close) read_close = nullptr;
  decltype(&fpzip_write_to_buffer) write_to_buffer = nullptr;
  decltype(&fpzip_write) write = nullptr;
  decltype(&fpzip_write_close) write_close = nullptr;
  std::uint8_t arithmetic = 0;
};

/// The library, found once per process. Cause::unsupported names the package where it is missing.
Result<const FpzipLibrary*> fpzip_library();

}  // namespace mcr::codecs
