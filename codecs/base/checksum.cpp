// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mcr {

std::uint64_t checksum(ByteSpan data) { return XXH3_64bits(data.data(), data.size()); }

struct RunningChecksum::State {
  XXH3_state_t xxh;
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh);
}
RunningChecksum::~RunningChecksum() = default;

void RunningChecksum::add(ByteSpan data) {
  XXH3_64bits_update(&state_->xxh, data.data(), data.size());
}
std::uint64_t RunningChecksum::value() const { return XXH3_64bits_digest(&state_->xxh); }

}  // namespace mcr
