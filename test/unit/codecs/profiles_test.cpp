// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/profiles.hpp"

#include <set>

#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

const ElementType double_type{ElementKind::floating, 8, false};
const ElementType int_type{ElementKind::signed_integer, 4, false};

TEST_CASE("every profile is found by its name, and an unknown one lists them") {
  for (const auto profile : {Profile::fast, Profile::balanced, Profile::max, Profile::none,
                             Profile::paper, Profile::portable}) {
    const auto parsed = parse_profile(profile_name(profile));
    REQUIRE(parsed);
    REQUIRE(*parsed == profile);
  }
  const auto unknown = parse_profile("best");
  REQUIRE_FALSE(unknown);
  REQUIRE(unknown.error().cause == Cause::usage);
  REQUIRE_THAT(unknown.error().message, Catch::Contains("balanced"));
}

TEST_CASE("every candidate is a pipeline, stands once, and belongs to a profile") {
  std::set<std::string_view> seen;
  for (const Candidate& candidate : candidates()) {
    INFO(candidate.pipeline);
    REQUIRE(Pipeline::parse(candidate.pipeline));
    REQUIRE(seen.emplace(candidate.pipeline).second);
    REQUIRE((candidate.fast || candidate.balanced || candidate.max));
    REQUIRE((candidate.bytes || candidate.integer || candidate.floating));
    REQUIRE(candidate.encode_mb_s > 0);
    REQUIRE(candidate.decode_mb_s > 0);
  }
}

TEST_CASE("profiles that do not choose have a pipeline for every type") {
  for (const ElementType& type :
       {double_type, int_type, ElementType{ElementKind::floating, 4, false},
        ElementType{ElementKind::bytes, 13, false}}) {
    REQUIRE(fixed_pipeline(Profile::none, type).steps.empty());
    REQUIRE_FALSE(fixed_pipeline(Profile::paper, type).steps.empty());
    REQUIRE_FALSE(fixed_pipeline(Profile::portable, type).steps.empty());
  }
}

TEST_CASE("a pipeline is named by variable before type, and the last one given wins") {
  ProfileOptions options;
  REQUIRE(named_pipeline(options, "Grid/Density", double_type) == nullptr);
  REQUIRE(options.set_pipeline("double", "lz4"));
  REQUIRE(named_pipeline(options, "Grid/Density", double_type)->print() == "lz4");
  REQUIRE(named_pipeline(options, "", double_type)->print() == "lz4");
  REQUIRE(options.set_pipeline("Density", "zlib(9)"));
  REQUIRE(named_pipeline(options, "Grid/Density", double_type)->print() == "zlib(9)");
  REQUIRE(options.set_pipeline("Grid/Density", "none"));
  REQUIRE(named_pipeline(options, "Grid/Density", double_type)->print() == "none");
  REQUIRE(options.set_pipeline("Grid/Density", "zstd(1)"));
  REQUIRE(named_pipeline(options, "Grid/Density", double_type)->print() == "zstd(1)");
  REQUIRE(named_pipeline(options, "Grid/Energy", int_type) == nullptr);
  REQUIRE(options.set_pipeline("integer", "lz4(9)"));
  REQUIRE(named_pipeline(options, "Grid/Energy", int_type)->print() == "lz4(9)");
}

TEST_CASE("a named pipeline that is none is refused") {
  ProfileOptions options;
  REQUIRE_FALSE(options.set_pipeline("double", "nonsense"));
  REQUIRE_FALSE(options.set_pipeline("", "zstd"));
}

}  // namespace
}  // namespace mcr::codecs
