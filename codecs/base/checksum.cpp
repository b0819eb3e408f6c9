// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codecs/base/checksum_avx2.hpp"

namespace mcr {

std::uint64_t checksum(ByteSpan data) {
#if MCR_HAVE_AVX2
  if (cpu::has_avx2()) return detail::checksum_avx2(data.data(), data.size());
#endif
  return XXH3_64bits(data.data(), data.size());
}

struct RunningChecksum::State {
  XXH3_state_t xxh;
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh);
}
RunningChecksum::~RunningChecksum() = default;

void RunningChecksum::add(ByteSpan data) {
#if MCR_HAVE_AVX2
  if (cpu::has_avx2()) return detail::add_to_checksum_avx2(&state_->xxh, data.data(), data.size());
#endif
  XXH3_64bits_update(&state_->xxh, data.data(), data.size());
}
std::uint64_t RunningChecksum::value() const { return XXH3_64bits_digest(&state_->xxh); }

}  // namespace mcr
