// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/chosen_frame.hpp"

#include "codecs/frames/frame.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

using sample::Pattern;

ProfileOptions options_of(Profile profile) {
  ProfileOptions options;
  options.profile = profile;
  return options;
}

std::size_t frame_bytes(Profile profile, const Layout& layout, const Bytes& raw, Scratch& scratch) {
  const ProfileOptions options = options_of(profile);
  const Choice choice = choose(options, layout, raw, scratch);
  Bytes frame;
  REQUIRE(encode_chosen_frame(choice, options, raw, layout, {}, scratch, frame));
  Bytes back(raw.size());
  REQUIRE(decode_frame(frame, scratch, back));
  REQUIRE(back == raw);
  return frame.size();
}

/// Data of many kinds, as unseen as a test can make it.
Bytes odd_data(const ElementType& type, std::size_t count, unsigned seed) {
  const auto a = static_cast<Pattern>(seed % static_cast<unsigned>(Pattern::last));
  const auto b = static_cast<Pattern>(seed / 3 % static_cast<unsigned>(Pattern::last));
  Bytes raw = sample::make(type, count, a, seed);
  const Bytes other = sample::make(type, count, b, seed + 1);
  for (std::size_t i = 0; i < count; ++i) {
    if ((i >> (seed % 11)) % 2 == 0) continue;
    std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(i * type.size), type.size,
                raw.begin() + static_cast<std::ptrdiff_t>(i * type.size));
  }
  return raw;
}

TEST_CASE("max is never larger than balanced") {
  Scratch scratch;
  const ElementType types[] = {{ElementKind::floating, 8, false},
                               {ElementKind::floating, 4, false},
                               {ElementKind::signed_integer, 4, false},
                               {ElementKind::unsigned_integer, 1, false},
                               {ElementKind::bytes, 12, false}};
  for (const ElementType& type : types) {
    for (unsigned seed = 0; seed < 14; ++seed) {
      const std::uint32_t count = 40 + seed * 97;
      const Layout layout{type, {seed % 2 == 0 ? Shape::flat(count) : Shape{2, {count, 3}}}};
      const Bytes raw = odd_data(type, static_cast<std::size_t>(layout.count()), seed);
      INFO(sample::describe(layout) << " seed " << seed);
      REQUIRE(frame_bytes(Profile::max, layout, raw, scratch) <=
              frame_bytes(Profile::balanced, layout, raw, scratch));
    }
  }
}

TEST_CASE("a frame that is not what the choice was made from chooses for itself") {
  Scratch scratch;
  const ElementType type{ElementKind::floating, 8, false};
  const Layout layout{type, {Shape::flat(20000)}};
  const Bytes zeros = sample::make(type, 20000, Pattern::zeros);
  const Bytes smooth = sample::make(type, 20000, Pattern::smooth);
  const Choice choice = choose({}, layout, zeros, scratch);
  REQUIRE(choice.pipeline.print() == "constant");
  Bytes frame;
  REQUIRE(encode_chosen_frame(choice, {}, smooth, layout, {}, scratch, frame));
  REQUIRE(frame.size() * 10 < smooth.size() * 9);
  Bytes back(smooth.size());
  REQUIRE(decode_frame(frame, scratch, back));
  REQUIRE(back == smooth);
}

TEST_CASE("a named pipeline is never second-guessed") {
  Scratch scratch;
  ProfileOptions options;
  REQUIRE(options.set_pipeline("double", "zstd(1)"));
  const ElementType type{ElementKind::floating, 8, false};
  const Layout layout{type, {Shape::flat(20000)}};
  const Bytes raw = sample::make(type, 20000, Pattern::smooth);
  const Choice choice = choose(options, layout, raw, scratch);
  Bytes frame;
  REQUIRE(encode_chosen_frame(choice, options, raw, layout, {}, scratch, frame));
  REQUIRE(read_frame_info(frame)->pipeline.print() == "zstd(1)");
}

}  // namespace
}  // namespace mcr::codecs
