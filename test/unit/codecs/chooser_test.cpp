// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/chooser.hpp"

#include <bit>
#include <cmath>
#include <random>

#include "codecs/frames/frame.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

using sample::Pattern;

const Layout doubles{{ElementKind::floating, 8, false}, {{2, {300, 400}}}};

ProfileOptions options_of(Profile profile) {
  ProfileOptions options;
  options.profile = profile;
  return options;
}

TEST_CASE("what cannot become smaller is stored") {
  Scratch scratch;
  const Bytes raw = sample::make(doubles.type, 120000, Pattern::random);
  for (const auto profile : {Profile::fast, Profile::balanced, Profile::max}) {
    const Choice choice = choose(options_of(profile), doubles, raw, scratch);
    INFO(choice.pipeline.print());
    Bytes frame;
    REQUIRE(encode_frame(raw, doubles, choice.pipeline, scratch, frame));
    REQUIRE(frame.size() <= raw.size() + max_frame_overhead);
  }
}

TEST_CASE("every profile's choice for every type decodes to the data") {
  Scratch scratch;
  for (const auto profile : {Profile::fast, Profile::balanced, Profile::max, Profile::none,
                             Profile::paper, Profile::portable}) {
    for (ElementType type : sample::all_types()) {
      for (const bool big : {false, true}) {
        type.big_endian = big && type.kind != ElementKind::bytes && type.size > 1;
        for (const auto pattern : {Pattern::smooth, Pattern::few, Pattern::specials}) {
          const Layout layout{type, {{3, {7, 8, 9}}, Shape::flat(11)}};
          const Bytes raw = sample::make(type, 7 * 8 * 9 + 11, pattern);
          const Choice choice = choose(options_of(profile), layout, raw, scratch);
          INFO(profile_name(profile)
               << " " << choice.pipeline.print() << " " << sample::describe(layout));
          Bytes frame;
          REQUIRE(encode_frame(raw, layout, choice.pipeline, scratch, frame));
          Bytes back(raw.size());
          REQUIRE(decode_frame(frame, scratch, back));
          REQUIRE(back == raw);
        }
      }
    }
  }
}

TEST_CASE("the same data gives the same choice") {
  const Bytes raw = sample::make(doubles.type, 120000, Pattern::smooth);
  Scratch first;
  Scratch second;
  const Choice a = choose(options_of(Profile::balanced), doubles, raw, first);
  const Choice b = choose(options_of(Profile::balanced), doubles, raw, second);
  REQUIRE(a.pipeline == b.pipeline);
  REQUIRE(a.why == b.why);
  REQUIRE(a.ratio > 1);
}

TEST_CASE(
    "numbers of which there are some thousands go to a table of them, though a sample holds most "
    "of "
    "them once") {
  constexpr std::size_t count = 200000;
  std::mt19937 random(3);
  Bytes raw;
  for (std::size_t i = 0; i < count; ++i) {
    const double root = std::sqrt(static_cast<double>(random() % 20000));  // of no common step
    Writer(raw).u64(std::bit_cast<std::uint64_t>(root));
  }
  const Layout layout{doubles.type, {Shape::flat(count)}};
  Scratch scratch;
  for (const auto profile : {Profile::fast, Profile::balanced}) {
    REQUIRE(choose(options_of(profile), layout, raw, scratch).pipeline.print() == "dictionary");
  }
}

TEST_CASE("numbers of a common step are taken as multiples of it, in either byte order") {
  Scratch scratch;
  std::mt19937_64 random(9);
  const bool big = GENERATE(false, true);
  constexpr std::uint32_t count = 60000;
  Bytes raw;
  std::int64_t k = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    k += static_cast<std::int64_t>(random() % 2001) - 1000;
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(k) / 1000);
    Writer(raw).u64(big ? reverse_bytes(bits) : bits);
  }
  const Layout layout{{ElementKind::floating, 8, big}, {Shape::flat(count)}};
  for (const Profile profile : {Profile::fast, Profile::balanced, Profile::max}) {
    ProfileOptions options;
    options.profile = profile;
    const Choice choice = choose(options, layout, raw, scratch);
    INFO(choice.pipeline.print());
    REQUIRE(choice.pipeline.print().starts_with("multiples(auto)|"));
    Bytes frame;
    REQUIRE(encode_frame(raw, layout, choice.pipeline, scratch, frame));
    REQUIRE(frame.size() < count * 2);  // 11 bits a difference, of 64
    Bytes back(raw.size());
    REQUIRE(decode_frame(frame, scratch, back));
    REQUIRE(back == raw);
  }
}

TEST_CASE("a slow storage is worth more work than a fast one") {
  const Bytes raw = sample::make(doubles.type, 120000, Pattern::smooth);
  Scratch scratch;
  ProfileOptions options;
  options.bandwidth = 1e6;
  const Choice slow = choose(options, doubles, raw, scratch);
  options.bandwidth = 1e11;
  const Choice fast = choose(options, doubles, raw, scratch);
  REQUIRE(slow.ratio >= fast.ratio);
  REQUIRE(slow.encode_mb_s <= fast.encode_mb_s);
}

TEST_CASE("a pipeline that the settings name is taken as it is") {
  Scratch scratch;
  ProfileOptions options;
  REQUIRE(options.set_pipeline("double", "lz4|zlib(1)"));
  const Bytes raw = sample::make(doubles.type, 120000, Pattern::smooth);
  const Choice choice = choose(options, doubles, raw, scratch, "a/b");
  REQUIRE(choice.pipeline.print() == "lz4|zlib(1)");
}

TEST_CASE("no data needs no pipeline") {
  Scratch scratch;
  REQUIRE(choose({}, {doubles.type, {}}, {}, scratch).pipeline.steps.empty());
  REQUIRE(choose({}, {doubles.type, {Shape::flat(0)}}, {}, scratch).pipeline.steps.empty());
}

}  // namespace
}  // namespace mcr::codecs
