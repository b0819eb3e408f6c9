// SPDX-License-Identifier: BSD-3-Clause
#include "vol/connector/info_string.hpp"

#include "test/support/catch.hpp"

namespace mcr::vol {

TEST_CASE("under_vol and under_info are taken out of the text, the rest is settings") {
  const ConnectorInfo info = parse_info(" under_vol=0;under_info={};files=*;keep=2");
  CHECK(info.settings == "files=*;keep=2");
  CHECK(info.mistake.empty());
}

TEST_CASE("braces of under_info are kept together") {
  CHECK(parse_info("under_vol=0;under_info={a=1;b={c;d}};files=*").settings == "files=*");
}

TEST_CASE("no text is no settings") {
  CHECK(parse_info("").settings.empty());
  CHECK(parse_info("  ;; ").settings.empty());
}

TEST_CASE("another under_vol than the native connector is a mistake that is named") {
  CHECK(parse_info("under_vol=505;under_info={}").mistake.find("505") != std::string::npos);
}

TEST_CASE("an unknown key is a mistake that is named") {
  CHECK(parse_info("fils=*").mistake.find("fils") != std::string::npos);
}

TEST_CASE("a bad value is a mistake that is named") {
  CHECK(parse_info("close=sometimes").mistake.find("sometimes") != std::string::npos);
}

}  // namespace mcr::vol
