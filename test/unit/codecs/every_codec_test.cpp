// SPDX-License-Identifier: BSD-3-Clause
// What holds for every codec of the registry, whatever it does: whoever adds a row is tested here.
#include <set>

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/registry.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

using sample::Pattern;

/// Encodes and decodes `raw` by `codec` alone; false where the codec does not take the layout.
bool comes_back(const Codec& codec, ByteSpan parameters, const Layout& layout, const Bytes& raw,
                Scratch& scratch) {
  const auto after = codec.output(layout, parameters);
  if (!after) {
    REQUIRE(after.error().cause == Cause::usage);
    return false;
  }
  Bytes stored{std::byte{42}};  // encode() appends
  const auto encoded = codec.encode(raw, layout, parameters, scratch, stored);
  if (!encoded && encoded.error().cause == Cause::usage) return false;
  if (!encoded) FAIL(encoded.error().message);
  REQUIRE(stored[0] == std::byte{42});
  stored.erase(stored.begin());
  if (!codec.changes_size()) {
    REQUIRE(stored.size() == raw.size());
    REQUIRE(after->raw_bytes() == raw.size());
  }
  Bytes back(raw.size(), std::byte{0x55});
  const auto decoded = codec.decode(stored, layout, parameters, scratch, back);
  if (!decoded) FAIL(decoded.error().message);
  REQUIRE(back == raw);
  return true;
}

TEST_CASE("every codec returns every bit pattern at every size up to 200") {
  Scratch scratch;
  for (const CodecEntry& entry : all_codecs()) {
    DYNAMIC_SECTION(std::string(entry.name)) {
      bool taken = false;
      for (const ElementType& type : sample::all_types()) {
        for (std::uint32_t count = 0; count <= 200; ++count) {
          const Layout layout{type, {Shape::flat(count)}};
          INFO(sample::describe(layout));
          for (int p = 0; p < static_cast<int>(Pattern::last); ++p) {
            const Bytes raw = sample::make(type, count, static_cast<Pattern>(p), count);
            taken |= comes_back(entry.codec(), {}, layout, raw, scratch);
          }
        }
      }
      REQUIRE(taken);
    }
  }
}

TEST_CASE("every codec returns bricks of odd shapes") {
  Scratch scratch;
  for (const CodecEntry& entry : all_codecs()) {
    DYNAMIC_SECTION(std::string(entry.name)) {
      for (const ElementType& type : sample::all_types()) {
        for (const auto& bricks : sample::odd_shapes()) {
          const Layout layout{type, bricks};
          INFO(sample::describe(layout));
          for (int p = 0; p < static_cast<int>(Pattern::last); ++p) {
            const Bytes raw = sample::make(type, static_cast<std::size_t>(layout.count()),
                                           static_cast<Pattern>(p), 99);
            comes_back(entry.codec(), {}, layout, raw, scratch);
          }
        }
      }
    }
  }
}

TEST_CASE("every codec answers damaged input with an error or with bytes, and stays inside") {
  // Without a sanitizer this shows little more than the absence of crashes; CI runs it under one.
  Scratch scratch;
  std::mt19937_64 random(5);
  for (const CodecEntry& entry : all_codecs()) {
    // libfpzip trusts its stream; spec.md says so, and profiles other than `paper` do not use it.
    if (entry.id == codec_id::fpzip) continue;
    DYNAMIC_SECTION(std::string(entry.name)) {
      const Codec& codec = entry.codec();
      for (const ElementType& type : sample::all_types()) {
        const Layout layout{type, {{2, {9, 31}}, Shape::flat(77)}};
        if (!codec.output(layout, {})) continue;
        for (const auto pattern : {Pattern::smooth, Pattern::few, Pattern::random}) {
          const Bytes raw =
              sample::make(type, static_cast<std::size_t>(layout.count()), pattern, 3);
          Bytes stored;
          if (!codec.encode(raw, layout, {}, scratch, stored)) continue;
          Bytes back(raw.size());
          const auto try_to_decode = [&](const Bytes& bytes) {
            // A copy of exact size, so that a sanitizer sees the first byte read behind it.
            const std::vector<std::byte> exact(bytes);
            const auto decoded = codec.decode(exact, layout, {}, scratch, back);
            if (!decoded) {
              REQUIRE((decoded.error().cause == Cause::damaged ||
                       decoded.error().cause == Cause::unsupported));
            }
          };
          for (std::size_t length = 0; length < stored.size(); length += 1 + stored.size() / 64) {
            if (!codec.changes_size()) break;
            try_to_decode(
                Bytes(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(length)));
          }
          for (int flips = 0; flips < 100 && !stored.empty(); ++flips) {
            Bytes bad = stored;
            // Headers decide most: half of the flips go there.
            const std::size_t reach =
                flips % 2 == 0 ? std::min<std::size_t>(40, bad.size()) : bad.size();
            for (int k = 0; k < 1 + flips % 3; ++k) {
              bad[random() % reach] ^= static_cast<std::byte>(1U << (random() % 8));
            }
            try_to_decode(bad);
          }
        }
      }
    }
  }
}

TEST_CASE("every codec refuses or survives parameters from a stranger") {
  Scratch scratch;
  std::mt19937_64 random(6);
  for (const CodecEntry& entry : all_codecs()) {
    DYNAMIC_SECTION(std::string(entry.name)) {
      const Codec& codec = entry.codec();
      for (int round = 0; round < 300; ++round) {
        Bytes parameters(random() % 6);
        for (std::byte& byte : parameters)
          byte = static_cast<std::byte>(random() % (round < 150 ? 8 : 256));
        const Layout layout{{ElementKind::floating, 8, false}, {{2, {4, 6}}, Shape::flat(5)}};
        (void)codec.print(parameters);
        const auto after = codec.output(layout, parameters);
        if (!after) continue;
        const Bytes raw = sample::make(layout.type, 29, Pattern::smooth);
        Bytes stored;
        if (!codec.encode(raw, layout, parameters, scratch, stored)) continue;
        Bytes back(raw.size());
        REQUIRE(codec.decode(stored, layout, parameters, scratch, back));
        REQUIRE(back == raw);
      }
    }
  }
}

TEST_CASE("every codec prints its default parameters so that they can be parsed again") {
  for (const CodecEntry& entry : all_codecs()) {
    INFO(entry.name);
    const auto parameters = entry.codec().parse("");
    REQUIRE(parameters);
    const auto again = entry.codec().parse(entry.codec().print(*parameters));
    REQUIRE(again);
    REQUIRE(*again == *parameters);
    REQUIRE_FALSE(entry.codec().parse("no such parameter"));
  }
}

TEST_CASE("codecs have unique numbers, in rising order, and unique names") {
  std::set<std::string_view> names;
  int previous = 0;
  for (const CodecEntry& entry : all_codecs()) {
    REQUIRE(entry.id > previous);
    previous = entry.id;
    REQUIRE(names.insert(entry.name).second);
    REQUIRE(find_codec(entry.id) == &entry);
    REQUIRE(find_codec(entry.name) == &entry);
  }
}

}  // namespace
}  // namespace mcr::codecs
