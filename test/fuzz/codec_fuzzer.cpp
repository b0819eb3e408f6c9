// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes every codec of the registry. The first bytes choose codec, direction, type, shape and
// parameters; the rest is data. If the data is encoded, decoding must give it back. If it is
// decoded, reads and writes must stay inside the given ranges.
#include <cstdlib>

#include "codecs/base/registry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mcr;
  using namespace mcr::codecs;
  static Scratch scratch;
  if (size < 8) return 0;
  const auto table = all_codecs();
  const CodecEntry& entry = table[data[0] % table.size()];
  const bool decode = (data[1] & 1) != 0;
  if (entry.id == codec_id::fpzip) return 0;  // libfpzip trusts its stream; fpzip/spec.md
  const Codec& codec = entry.codec();

  ElementType type;
  type.kind = static_cast<ElementKind>(data[2] & 3);
  type.size = 1U << ((data[2] >> 2) & 3);
  if (type.kind == ElementKind::floating && type.size == 1) type.size = 8;
  if (type.kind == ElementKind::bytes) type.size = 1 + (data[2] >> 2);
  const std::size_t parameter_bytes = std::min<std::size_t>(data[3] % 8, size - 8);
  const auto* bytes = reinterpret_cast<const std::byte*>(data + 8);
  const ByteSpan parameters(bytes, parameter_bytes);
  const ByteSpan rest(bytes + parameter_bytes, size - 8 - parameter_bytes);

  // Makes some bricks of a shape that the input chooses, and a flat brick of the remaining
  // elements.
  const std::size_t count = decode ? data[4] + 256U * (data[5] & 63U) : rest.size() / type.size;
  Layout layout{type, {}};
  const Shape box{static_cast<std::uint8_t>(2 + (data[5] >> 7)),
                  {1U + (data[6] & 7U), 1U + ((data[6] >> 3) & 7U), 1U + (data[7] & 15U)}};
  std::size_t left = count;
  for (int bricks = data[1] >> 5; bricks > 0 && box.count() <= left; --bricks) {
    layout.bricks.push_back(box);
    left -= static_cast<std::size_t>(box.count());
  }
  layout.bricks.push_back(Shape::flat(static_cast<std::uint32_t>(left)));

  const auto after = codec.output(layout, parameters);
  if (!after) return 0;
  if (decode) {
    Bytes raw(count * type.size);
    Bytes stored(rest.begin(), rest.end());
    if (!codec.changes_size()) stored.resize(raw.size());
    (void)codec.decode(stored, layout, parameters, scratch, raw);
    return 0;
  }
  const ByteSpan raw = rest.first(count * type.size);
  Bytes stored;
  if (!codec.encode(raw, layout, parameters, scratch, stored)) return 0;
  if (!codec.changes_size() && stored.size() != raw.size()) std::abort();
  Bytes back(raw.size());
  if (!codec.decode(stored, layout, parameters, scratch, back)) std::abort();
  if (!std::equal(raw.begin(), raw.end(), back.begin())) std::abort();
  return 0;
}
