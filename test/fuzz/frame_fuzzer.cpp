// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes frames: with arbitrary bytes as they are, and with a corrected checksum, so that the
// decoders are reached too.
#include <cstdlib>

#include "codecs/base/checksum.hpp"
#include "codecs/base/registry.hpp"
#include "codecs/frames/frame.hpp"

namespace {

void try_frame(mcr::ByteSpan bytes) {
  using namespace mcr;
  using namespace mcr::codecs;
  static Scratch scratch;
  const auto info = read_frame_info(bytes);
  if (!info || info->raw_bytes > (1U << 22)) return;
  for (const Step& step : info->pipeline.steps) {
    if (step.codec == codec_id::fpzip) return;  // libfpzip trusts its stream; fpzip/spec.md
  }
  Bytes raw(static_cast<std::size_t>(info->raw_bytes));
  const bool is_decoded = decode_frame(bytes, scratch, raw).has_value();
  // In a solid frame each section has its own checksum.
  if (is_decoded && !info->solid && checksum(raw) != info->raw_checksum) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mcr::Bytes bytes(reinterpret_cast<const std::byte*>(data),
                   reinterpret_cast<const std::byte*>(data) + size);
  try_frame(bytes);
  if (size < 8) return 0;
  bytes.resize(size - 8);
  mcr::Writer(bytes).u64(mcr::checksum(bytes));
  try_frame(bytes);
  return 0;
}
