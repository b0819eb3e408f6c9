// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/frames/solid_frame.hpp"

#include <cmath>
#include <random>

#include "codecs/base/byte_order.hpp"
#include "codecs/base/checksum.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/references/axis_order.hpp"
#include "codecs/solid/solid_encode.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

using sample::Pattern;

struct Input {
  std::vector<Section> sections;
  Bytes raw;

  void add(std::string name, const ElementType& type, std::vector<Shape> bricks, ByteSpan bytes) {
    sections.push_back({std::move(name), {type, std::move(bricks)}});
    REQUIRE(sections.back().layout.raw_bytes() == bytes.size());
    raw.insert(raw.end(), bytes.begin(), bytes.end());
  }
  void add(std::string name, const std::vector<double>& values, std::vector<Shape> bricks) {
    add(std::move(name), {ElementKind::floating, 8, false}, std::move(bricks),
        std::as_bytes(std::span(values)));
  }
};

SolidOptions options_for(Profile profile) {
  ProfileOptions wanted;
  wanted.profile = profile;
  return solid_options(wanted);
}

Bytes encode(const Input& input, Profile profile, std::vector<SectionReport>* report = nullptr) {
  Scratch scratch;
  Bytes frame;
  const auto encoded =
      encode_solid_frame(input.raw, input.sections, options_for(profile), scratch, frame, report);
  if (!encoded) FAIL(encoded.error().message);
  return frame;
}

void require_round_trip(const Input& input) {
  REQUIRE(encode(input, Profile::max).size() <= encode(input, Profile::balanced).size());
  for (const Profile profile : {Profile::fast, Profile::balanced, Profile::max}) {
    const Bytes frame = encode(input, profile);
    const auto info = read_frame_info(frame);
    REQUIRE(info);
    REQUIRE(info->solid);
    REQUIRE(info->raw_bytes == input.raw.size());
    REQUIRE(info->frame_bytes == frame.size());
    Scratch scratch;
    Bytes raw(input.raw.size());
    const auto decoded = decode_frame(frame, scratch, raw);
    if (!decoded) FAIL(decoded.error().message);
    REQUIRE(raw == input.raw);
    std::size_t at = 0;
    for (std::size_t n = 0; n < input.sections.size(); ++n) {
      Bytes section(static_cast<std::size_t>(input.sections[n].layout.raw_bytes()));
      REQUIRE(decode_solid_section(frame, n, scratch, section));
      REQUIRE(std::equal(section.begin(), section.end(),
                         input.raw.begin() + static_cast<std::ptrdiff_t>(at)));
      at += section.size();
    }
  }
}

std::vector<double> noise(std::size_t count, unsigned seed, double low = 1, double high = 2) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> values(low, high);
  std::vector<double> out(count);
  for (double& value : out) value = values(random);
  return out;
}

/// Two ranks with a density, a pressure and an energy that follows from both, a field that is
/// another one with its axes exchanged, and integers.
Input related() {
  const std::vector<Shape> two_cubes{Shape::flat(1728), Shape::flat(1728)};
  Input input;
  const auto density = noise(3456, 1);
  const auto pressure = noise(3456, 2);
  std::vector<double> energy;
  for (std::size_t i = 0; i < density.size(); ++i) {
    energy.push_back(2.0 / 3.0 * pressure[i] / density[i]);
  }
  std::vector<double> turned(3456);
  for (std::size_t n = 0; n < 3456; n += 1728) {
    for (std::size_t i = 0; i < 1728; ++i) {
      turned[n + i % 12 * 144 + i / 12 % 12 * 12 + i / 144] = density[n + i];
    }
  }
  const ElementType int32{ElementKind::signed_integer, 4, false};
  input.add("energy", energy, two_cubes);
  input.add("ids", int32, {Shape::flat(1001)}, sample::make(int32, 1001, Pattern::counting));
  input.add("density", density, two_cubes);
  input.add("pressure", pressure, two_cubes);
  input.add("turned", turned, two_cubes);
  return input;
}

TEST_CASE("related variables come back, and cost next to nothing") {
  const Input input = related();
  require_round_trip(input);
  std::vector<SectionReport> report;
  const Bytes frame = encode(input, Profile::balanced, &report);
  REQUIRE(report.size() == 5);
  CHECK(report[0].stored_bytes < 200);
  CHECK_THAT(report[0].coding, Catch::Contains("0.666667"));
  // One of the two that are each other's turned copy is kept, the other refers to it.
  CHECK(report[4].stored_bytes < 200);
  CHECK_THAT(report[4].coding, Catch::Contains("references"));
  CHECK(frame.size() < input.raw.size() * 6 / 10);
}

TEST_CASE("weighing codes related sections only, and tells their sizes in solid and plain frames") {
  const Input input = related();
  std::vector<SectionReport> coded;
  encode(input, Profile::balanced, &coded);
  Scratch scratch;
  const auto weighed =
      weigh_sections(input.raw, input.sections, options_for(Profile::balanced), scratch);
  REQUIRE(weighed);
  REQUIRE(weighed->size() == coded.size());
  std::size_t related_sections = 0;
  for (std::size_t n = 0; n < coded.size(); ++n) {
    const SectionReport& section = (*weighed)[n];
    INFO(section.name);
    CHECK(section.is_related == coded[n].is_related);
    CHECK(section.needs == coded[n].needs);
    CHECK(section.raw_bytes == coded[n].raw_bytes);
    if (!section.is_related) {
      CHECK(section.stored_bytes == 0);
      CHECK(section.plain_bytes == 0);
      continue;
    }
    ++related_sections;
    CHECK(section.stored_bytes == coded[n].stored_bytes);
    // All these numbers are noise: a plain frame has six of their eight bytes at least.
    CHECK(section.plain_bytes > section.raw_bytes * 3 / 4);
    CHECK(section.plain_bytes < section.raw_bytes + 200);
  }
  CHECK(related_sections == 2);
}

TEST_CASE("every type, pattern and odd shape comes back from a solid frame") {
  for (const auto pattern : {Pattern::zeros, Pattern::ones, Pattern::counting, Pattern::random,
                             Pattern::smooth, Pattern::specials, Pattern::few}) {
    Input input;
    unsigned seed = 1;
    for (ElementType type : sample::all_types()) {
      for (const bool big : {false, true}) {
        if (big && (type.kind == ElementKind::bytes || type.size == 1)) continue;
        type.big_endian = big;
        const std::vector<Shape> bricks{Shape::flat(0),   Shape::flat(1),   Shape{3, {3, 5, 7}},
                                        Shape::flat(125), Shape{2, {1, 9}}, Shape{4, {2, 3, 2, 3}}};
        Layout layout{type, bricks};
        Bytes raw =
            sample::make(type, static_cast<std::size_t>(layout.count()), pattern, seed++ % 3);
        if (big) reverse_elements(Bytes(raw), type.size, raw);
        input.add("v", type, bricks, raw);
      }
    }
    require_round_trip(input);
  }
}

TEST_CASE("a frame without sections and one of empty sections come back") {
  require_round_trip({});
  Input input;
  input.add("nothing", std::vector<double>{}, {});
  input.add("empty", std::vector<double>{}, {Shape::flat(0), Shape::flat(0)});
  require_round_trip(input);
}

TEST_CASE("special values next to formulas do not disturb them") {
  Input input;
  const double awkward[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, NAN, 5e-324, 1e308, -1e-310};
  auto a = noise(2000, 3);
  auto b = noise(2000, 4);
  for (std::size_t i = 0; i < a.size(); i += 17) a[i] = awkward[i % 8];
  for (std::size_t i = 0; i < b.size(); i += 23) b[i] = awkward[i % 8];
  std::vector<double> product;
  for (std::size_t i = 0; i < a.size(); ++i) product.push_back(a[i] * b[i]);
  input.add("a", a, {Shape::flat(2000)});
  input.add("b", b, {Shape::flat(2000)});
  input.add("product", product, {Shape::flat(2000)});
  require_round_trip(input);
  std::vector<SectionReport> report;
  encode(input, Profile::balanced, &report);
  CHECK(report[2].stored_bytes < 1000);
}

TEST_CASE("any flipped bit of a solid frame is noticed") {
  Input input;
  const auto values = noise(64, 5);
  input.add("a", values, {Shape::flat(64)});
  input.add("b", values, {Shape::flat(64)});
  for (const Profile profile : {Profile::balanced, Profile::max}) {
    const Bytes frame = encode(input, profile);
    Scratch scratch;
    Bytes raw(input.raw.size());
    for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
      Bytes damaged = frame;
      damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      REQUIRE_FALSE(decode_frame(damaged, scratch, raw));
    }
    for (std::size_t length = 0; length < frame.size(); ++length) {
      REQUIRE_FALSE(decode_frame(ByteSpan(frame).first(length), scratch, raw));
    }
  }
}

TEST_CASE("a hostile solid frame, its checksums right, gives an error or other bytes, never more") {
  std::mt19937_64 random(17);
  const Input input = related();
  for (const Profile profile : {Profile::balanced, Profile::max}) {
    const Bytes frame = encode(input, profile);
    Scratch scratch;
    Bytes raw(input.raw.size());
    for (int i = 0; i < 3000; ++i) {
      Bytes damaged = frame;
      // Mostly the head, where everything that asks for memory or names places stands.
      const std::size_t reach = i % 3 == 0 ? frame.size() - 8 : 400;
      for (int changes = 1 + i % 3; changes > 0; --changes) {
        damaged[random() % reach] = static_cast<std::byte>(random());
      }
      damaged.resize(damaged.size() - 8);
      Writer(damaged).u64(checksum(damaged));
      const auto decoded = decode_frame(damaged, scratch, raw);
      if (decoded) REQUIRE(raw == input.raw);
      (void)read_solid_info(damaged);
      Bytes section(static_cast<std::size_t>(input.sections[0].layout.raw_bytes()));
      (void)decode_solid_section(damaged, 0, scratch, section);
    }
  }
}

TEST_CASE("what does not fit is refused by the encoder") {
  Scratch scratch;
  Bytes frame;
  const Bytes raw(10);
  const std::vector<Section> sections{{"x", {{ElementKind::floating, 8, false}, {Shape::flat(1)}}}};
  const auto options = options_for(Profile::balanced);
  CHECK_FALSE(encode_solid_frame(raw, sections, options, scratch, frame));
  CHECK(frame.empty());
}

}  // namespace
}  // namespace mcr::codecs
