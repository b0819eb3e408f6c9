// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/similar_choices.hpp"

#include <cmath>
#include <random>
#include <span>

#include "codecs/frames/frame.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

const Layout layout{sample::f8, {Shape::flat(16384)}};

void append(Bytes& raw, double value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  raw.insert(raw.end(), bytes.begin(), bytes.end());
}

/// A wave with noise in its lower bits; `noise` is relative.
Bytes wave(unsigned seed, double noise = 1e-9) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> errors;
  Bytes raw;
  for (std::size_t i = 0; i < layout.count(); ++i) {
    const double value =
        (1.5 + std::sin(0.001 * static_cast<double>(i) + seed)) * (1 + noise * errors(random));
    append(raw, value);
  }
  return raw;
}

/// Numbers without any order.
Bytes thermal(unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> values;
  Bytes raw;
  for (std::size_t i = 0; i < layout.count(); ++i) append(raw, values(random));
  return raw;
}

/// Chooses for variables in turn, and shares what was tried.
class Chooser {
 public:
  explicit Chooser(Profile profile) { options_.profile = profile; }

  /// Returns true if trials were made for the variable.
  bool tries(const Bytes& raw, const Layout& shape = layout) {
    std::optional<TriedChoice> tried;
    const ChoiceSharing sharing{earlier_, tried};
    choice_ = choose(options_, shape, raw, scratch_, {}, {}, &sharing);
    if (tried) earlier_.add(*std::move(tried));
    return choice_.why.find("similar") == std::string::npos;
  }
  [[nodiscard]] const Choice& choice() const { return choice_; }
  [[nodiscard]] Choice own_choice(const Bytes& raw) {
    return choose(options_, layout, raw, scratch_);
  }
  [[nodiscard]] std::size_t size_with(const Choice& choice, const Bytes& raw) {
    Bytes frame;
    REQUIRE(encode_frame(raw, layout, choice.pipeline, scratch_, frame));
    return frame.size();
  }

 private:
  ProfileOptions options_;
  SimilarChoices earlier_;
  Scratch scratch_;
  Choice choice_;
};

TEST_CASE("variables that look alike share one trial, and lose next to nothing") {
  for (const Profile profile : {Profile::fast, Profile::balanced, Profile::max}) {
    Chooser chooser(profile);
    REQUIRE(chooser.tries(wave(1)));
    std::size_t trials = 0;
    for (unsigned seed = 2; seed < 32; ++seed) {
      const Bytes raw = wave(seed);
      trials += chooser.tries(raw) ? 1 : 0;
      const auto shared = static_cast<double>(chooser.size_with(chooser.choice(), raw));
      const auto own = static_cast<double>(chooser.size_with(chooser.own_choice(raw), raw));
      REQUIRE(shared <= own * 1.003);
      REQUIRE_THAT(chooser.choice().ratio,
                   Catch::WithinRel(static_cast<double>(raw.size()) / shared, 0.1));
    }
    INFO(profile_name(profile) << ": " << trials << " trials");
    REQUIRE(trials <= 10);
  }
}

TEST_CASE("a variable that looks different gets a trial of its own") {
  Chooser chooser(Profile::balanced);
  REQUIRE(chooser.tries(wave(1)));
  REQUIRE(chooser.tries(thermal(2)));
  REQUIRE(chooser.tries(wave(3, 1e-3)));
  for (unsigned seed = 4; seed < 12 && chooser.tries(thermal(seed)); ++seed) {
  }
  REQUIRE_THAT(chooser.choice().why, Catch::Contains("similar"));
  REQUIRE(chooser.choice().ratio < 1.3);  // that of noise, not of a wave
}

TEST_CASE("a variable of another shape gets a trial of its own") {
  Chooser chooser(Profile::balanced);
  REQUIRE(chooser.tries(wave(1)));
  REQUIRE(chooser.tries(wave(2), Layout{sample::f8, {{2, {128, 128}}}}));
}

TEST_CASE("what points do not show is not shared") {
  Chooser chooser(Profile::balanced);
  Bytes repeated = thermal(1);  // the second half repeats the first
  std::copy_n(repeated.begin(), repeated.size() / 2,
              repeated.begin() + static_cast<std::ptrdiff_t>(repeated.size() / 2));
  REQUIRE(chooser.tries(repeated));
  REQUIRE(chooser.tries(repeated));
  const Layout integers{sample::i4, {Shape::flat(32768)}};
  const Bytes noise = thermal(2);
  REQUIRE(chooser.tries(noise, integers));
  REQUIRE(chooser.tries(noise, integers));
  const Bytes constant(thermal(3).size());
  REQUIRE(chooser.tries(constant));
  REQUIRE(chooser.tries(constant));
}

}  // namespace
}  // namespace mcr::codecs
