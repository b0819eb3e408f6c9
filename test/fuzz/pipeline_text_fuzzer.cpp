// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes pipelines with arbitrary text. An accepted pipeline must be the same after it is printed
// and parsed again.
#include <cstdlib>

#include "codecs/base/codec_pipeline.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using mcr::codecs::Pipeline;
  const auto pipeline = Pipeline::parse({reinterpret_cast<const char*>(data), size});
  if (!pipeline) return 0;
  const auto again = Pipeline::parse(pipeline->print());
  if (!again || *again != *pipeline) std::abort();
  return 0;
}
