// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/info_string.hpp"

#include "test/support/catch.hpp"

namespace mcr::vol {

TEST_CASE("under_vol and under_info are removed from the text; the rest are settings") {
  const ConnectorInfo info = parse_info(" under_vol=0;under_info={};files=*;keep=2");
  CHECK(info.settings == "files=*;keep=2");
  CHECK(info.mistake.empty());
}

TEST_CASE("under_info may contain nested braces, and content in them is refused") {
  const ConnectorInfo info = parse_info("under_vol=0;under_info={a=1;b={c;d}};files=*");
  CHECK(info.settings == "files=*");
  CHECK(info.mistake.find("a=1;b={c;d}") != std::string::npos);
  CHECK(parse_info("under_vol=native;under_info={ };files=*").mistake.empty());
}

TEST_CASE("an empty text gives no settings") {
  CHECK(parse_info("").settings.empty());
  CHECK(parse_info("  ;; ").settings.empty());
}

TEST_CASE("another under_vol than the native connector is a mistake, which the message names") {
  for (const char* under : {"505", "1", "pass_through", "", "00"}) {
    const auto mistake = parse_info("under_vol=" + std::string(under) + ";under_info={}").mistake;
    INFO(under);
    CHECK(mistake.find("under_vol=" + std::string(under) + " cannot") != std::string::npos);
  }
}

TEST_CASE("an unknown key is a mistake, which the message names") {
  CHECK(parse_info("fils=*").mistake.find("fils") != std::string::npos);
}

TEST_CASE("a bad value is a mistake, which the message names") {
  CHECK(parse_info("close=sometimes").mistake.find("sometimes") != std::string::npos);
}

}  // namespace mcr::vol
