// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the accelerator's decoders, which run on the CPU here: they must stay inside of their
// memory, refuse what the CPU's decoders refuse, and decode the rest to the same bytes.
#include <cstdlib>

#include "codecs/base/checksum.hpp"
#include "codecs/gpu/coder/frame_coder.hpp"
#include "codecs/gpu/kernels/cpu_queue.hpp"

namespace {

void try_frame(mcr::ByteSpan bytes) {
  using namespace mcr;
  using namespace mcr::codecs;
  static Scratch scratch;
  const auto info = read_frame_info(bytes);
  if (!info || info->raw_bytes > (1U << 17) || !gpu::can_decode(*info)) return;
  Bytes by_cpu(static_cast<std::size_t>(info->raw_bytes));
  Bytes by_gpu(by_cpu.size());
  const auto cpu = decode_frame(bytes, scratch, by_cpu);
  gpu::CpuQueue queue(SIZE_MAX, gpu::RunOrder::shuffled);
  const auto gpu = gpu::decode_frame(queue, bytes, scratch, by_gpu);
  if (cpu.has_value() != gpu.has_value()) std::abort();
  if (gpu ? by_gpu != by_cpu : gpu.error().cause != cpu.error().cause) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mcr::Bytes bytes(reinterpret_cast<const std::byte*>(data),
                   reinterpret_cast<const std::byte*>(data) + size);
  if (size < 8) return 0;
  // A right checksum, so that the decoders are reached.
  bytes.resize(size - 8);
  mcr::Writer(bytes).u64(mcr::checksum(bytes));
  try_frame(bytes);
  return 0;
}
