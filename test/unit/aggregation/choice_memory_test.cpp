// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/choice_memory.hpp"

#include "test/support/catch.hpp"

namespace mcr::aggregation {
namespace {

codecs::Choice choice_of(const char* pipeline) {
  codecs::Choice choice;
  choice.pipeline = *codecs::Pipeline::parse(pipeline);
  return choice;
}

TEST_CASE("a choice is known from the second set on, while the ratio stays") {
  ChoiceMemory memory;
  REQUIRE_FALSE(memory.recall("density", 1000));
  memory.learn("density", choice_of("planes"), 1000, 500);
  REQUIRE(memory.recall("density", 1000)->pipeline.print() == "planes");
  REQUIRE_FALSE(memory.recall("energy", 1000));
  memory.learn("density", choice_of("planes"), 1000, 510);
  REQUIRE(memory.recall("density", 1000));
  memory.learn("density", choice_of("planes"), 1000, 560);
  REQUIRE_FALSE(memory.recall("density", 1000));
}

TEST_CASE("better than remembered is drift too") {
  ChoiceMemory memory;
  memory.learn("density", choice_of("planes"), 1000, 500);
  memory.learn("density", choice_of("planes"), 1000, 300);
  REQUIRE_FALSE(memory.recall("density", 1000));
}

TEST_CASE("a variable of another size is looked at anew, and every one now and then") {
  ChoiceMemory memory;
  memory.learn("density", choice_of("planes"), 1000, 500);
  REQUIRE(memory.recall("density", 1400));
  REQUIRE_FALSE(memory.recall("density", 4000));
  memory.learn("density", choice_of("planes"), 1000, 500);
  unsigned known = 0;
  while (memory.recall("density", 1000) && known < 1000) ++known;
  REQUIRE(known > 10);
  REQUIRE(known < 100);
}

TEST_CASE("which variables are linked is remembered, none of them too") {
  ChoiceMemory memory;
  memory.learn_links("set", {}, 1000, 0);
  REQUIRE(memory.recall_links("set", 1000)->empty());
  memory.learn_links("other", {{"a", "from b"}}, 1000, 10);
  REQUIRE(memory.recall_links("other", 1000)->at("a") == "from b");
  memory.learn_links("other", {{"a", "from b"}}, 1000, 20);
  REQUIRE_FALSE(memory.recall_links("other", 1000));
}

TEST_CASE("empty variables are not remembered") {
  ChoiceMemory memory;
  memory.learn("nothing", choice_of("planes"), 0, 0);
  REQUIRE_FALSE(memory.recall("nothing", 0));
}

}  // namespace
}  // namespace mcr::aggregation
