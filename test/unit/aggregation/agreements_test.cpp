// SPDX-License-Identifier: BSD-3-Clause
// Agreements about sets, in a team of one process: it counts, and asks for the leaders of two nodes.
#include "aggregation/team/agreements.hpp"

#include <string>

#include "test/support/catch.hpp"
#include "test/unit/aggregation/team_of_one.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using aggregation::AgreementGiver;
using aggregation::AgreementTaker;
using restart::TeamDirectory;
using Box = restart::TeamDirectory::Box;

namespace {

struct Node {
  restart::ScratchDirectory scratch;
  TeamDirectory place = *TeamDirectory::make(scratch / "stage");
  AgreementGiver giver{aggregation::team_of_one()};
  AgreementTaker taker{&place, aggregation::team_of_one(), 0};

  void say(const std::string& name) {
    REQUIRE(place.create(Box::safe, name));
    go_on();
  }
  void go_on() {
    for (int idle = 0; idle < 100; ++idle) {
      const bool has_taken = taker.go_on();
      if (giver.go_on() || has_taken) idle = 0;
    }
  }
  [[nodiscard]] bool is_agreed(const std::string& name) const {
    return place.has(Box::agreed, name);
  }
};

}  // namespace

TEST_CASE("a set is safe when the leaders of all its parts have said so") {
  Node node;
  node.say("a.L.00000000000000f1.2.4");
  CHECK_FALSE(node.is_agreed("a.L.00000000000000f1.2.4"));
  node.say("b.L.00000000000000f2.2.4");  // another set
  CHECK_FALSE(node.is_agreed("a.L.00000000000000f1.2.4"));
  node.say("b.L.00000000000000f1.2.4");
  CHECK(node.is_agreed("a.L.00000000000000f1.2.4"));
  CHECK(node.is_agreed("b.L.00000000000000f1.2.4"));
  CHECK_FALSE(node.is_agreed("b.L.00000000000000f2.2.4"));
  CHECK(node.place.list(Box::safe)->size() == 1);
}

TEST_CASE("a leader that says the same again counts once") {
  Node node;
  const std::string mine = "a.L.00000000000000f1.2.4";
  node.say(mine);
  REQUIRE(node.place.remove(Box::safe, mine));
  node.go_on();
  node.say(mine);
  CHECK_FALSE(node.is_agreed(mine));
  node.say("b.L.00000000000000f1.2.4");
  CHECK(node.is_agreed(mine));
}

TEST_CASE("what a leader has taken back does not count") {
  Node node;
  const std::string mine = "a.L.00000000000000f1.2.4";
  node.say(mine);
  REQUIRE(node.place.remove(Box::safe, mine));
  node.say("a.L.00000000000000f1.0.4");
  node.say("b.L.00000000000000f1.2.4");
  CHECK_FALSE(node.is_agreed("b.L.00000000000000f1.2.4"));
  REQUIRE(node.place.remove(Box::safe, "a.L.00000000000000f1.0.4"));
  node.say(mine);  // in storage now
  CHECK(node.is_agreed(mine));
  CHECK(node.is_agreed("b.L.00000000000000f1.2.4"));
}

TEST_CASE("a new team does not take up what was told to an earlier one") {
  restart::ScratchDirectory scratch;
  TeamDirectory place = *TeamDirectory::make(scratch / "stage");
  REQUIRE(place.create(Box::safe, "a.L.00000000000000f1.4.4"));
  AgreementGiver giver{aggregation::team_of_one()};
  AgreementTaker taker{&place, aggregation::team_of_one(), 0};
  for (int turn = 0; turn < 100; ++turn) (void)(taker.go_on() || giver.go_on());
  CHECK(place.list(Box::agreed)->empty());
}

TEST_CASE("leaders that do not say the same of a set do not agree") {
  Node node;
  node.say("a.L.00000000000000f1.2.4");
  node.say("b.L.00000000000000f1.2.3");
  CHECK_FALSE(node.is_agreed("a.L.00000000000000f1.2.4"));
  node.say("a.L.00000000000000f2.3.4");
  node.say("b.L.00000000000000f2.3.4");
  CHECK(node.place.list(Box::agreed)->empty());
}

TEST_CASE("other names are no leader's") {
  CHECK_FALSE(aggregation::read_safe_name("x"));
  CHECK_FALSE(aggregation::read_safe_name("a.L.xyz.2.4"));
  CHECK_FALSE(aggregation::read_safe_name("a.L.f1.2."));
  const auto said = aggregation::read_safe_name("node.with.dots.L.f1.2.4");
  REQUIRE(said);
  CHECK(said->set == 0xf1);
  CHECK(said->parts == 2);
  CHECK(said->all == 4);
}
