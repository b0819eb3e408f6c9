// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/metadata_checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "codecs/base/integers.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t group_bytes = 12;

struct State {
  std::uint32_t a, b, c;

  void add(const std::byte* bytes) {
    a += load<u32le>(bytes);
    b += load<u32le>(bytes + 4);
    c += load<u32le>(bytes + 8);
  }
  void mix() {
    a = (a - c) ^ std::rotl(c, 4), c += b;
    b = (b - a) ^ std::rotl(a, 6), a += c;
    c = (c - b) ^ std::rotl(b, 8), b += a;
    a = (a - c) ^ std::rotl(c, 16), c += b;
    b = (b - a) ^ std::rotl(a, 19), a += c;
    c = (c - b) ^ std::rotl(b, 4), b += a;
  }
  void finish() {
    c = (c ^ b) - std::rotl(b, 14);
    a = (a ^ c) - std::rotl(c, 11);
    b = (b ^ a) - std::rotl(a, 25);
    c = (c ^ b) - std::rotl(b, 16);
    a = (a ^ c) - std::rotl(c, 4);
    b = (b ^ a) - std::rotl(a, 14);
    c = (c ^ b) - std::rotl(b, 24);
  }
};

}  // namespace

std::uint32_t metadata_checksum(ByteSpan bytes) {
  const std::uint32_t first = 0xdeadbeefU + static_cast<std::uint32_t>(bytes.size());
  State state{first, first, first};
  if (bytes.empty()) return state.c;
  for (; bytes.size() > group_bytes; bytes = bytes.subspan(group_bytes)) {
    state.add(bytes.data());
    state.mix();
  }
  std::array<std::byte, group_bytes> last{};
  std::memcpy(last.data(), bytes.data(), bytes.size());
  state.add(last.data());
  state.finish();
  return state.c;
}

bool ends_with_checksum(ByteSpan bytes) {
  if (bytes.size() < 4) return false;
  const std::size_t before = bytes.size() - 4;
  return metadata_checksum(bytes.first(before)) == load<u32le>(bytes.data() + before);
}

}  // namespace mcr::aggregation
