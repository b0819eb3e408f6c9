// SPDX-License-Identifier: BSD-3-Clause
// Sets that are held back: how long the buddy keeps their replicas.
#include "aggregation/leader/held_sets.hpp"

#include <memory>
#include <utility>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using aggregation::HeldSet;
using aggregation::HeldSets;
using aggregation::OutgoingReplica;
using aggregation::SetName;
using restart::LaunchDirectory;
using restart::PartId;
using restart::TeamDirectory;
using Box = restart::TeamDirectory::Box;

namespace {

struct Node {
  restart::ScratchDirectory scratch;
  TeamDirectory place = *TeamDirectory::make(scratch / "stage");
  std::optional<restart::File> team = *place.join_team();
  LaunchDirectory directory = *LaunchDirectory::create(scratch / "stage", "here", "L");
  SetName set{"L", "a.{rank}", 1};

  /// The buddy has the replica.
  [[nodiscard]] std::unique_ptr<HeldSet> held() const {
    restart::Settings settings;
    REQUIRE(settings.set("replicas", "1", "a test"));
    auto replica = OutgoingReplica::begin(directory, settings, "word");
    REQUIRE(replica);
    REQUIRE(replica->create_file());
    REQUIRE(place.move(name(), Box::made, Box::sent));
    return std::make_unique<HeldSet>(*std::move(replica), std::vector<aggregation::LockedPart>());
  }
  [[nodiscard]] std::string name() const {
    return TeamDirectory::name_of_launch(directory.path(), "word");
  }
  [[nodiscard]] bool is_sent() const { return place.has(Box::sent, name()); }
};

PartId part(std::uint8_t number) {
  PartId id;
  id.bytes.fill(number);
  return id;
}

}  // namespace

TEST_CASE("the buddy keeps a replica until its set is in storage") {
  const Node node;
  HeldSets sets(node.directory);
  sets.add(node.set, node.held());
  HeldSets::Taken taken = sets.take(node.set);
  REQUIRE(taken.held);
  taken.waiting = {part(1), part(2)};  // storage refuses them
  sets.keep(node.set, std::move(taken));
  CHECK(node.is_sent());
  SECTION("a further attempt at both") {
    taken = sets.take(node.set);
    REQUIRE(taken.held);
    CHECK(taken.waiting.size() == 2);
    CHECK(node.is_sent());
    taken = {};
  }
  SECTION("they are put back as plain files") {
    sets.note_left(part(1));
    sets.note_left(part(3));
    CHECK(node.is_sent());
    sets.note_left(part(2));
  }
  SECTION("nothing is left in the stage") { sets.withdraw_all(); }
  CHECK_FALSE(node.is_sent());
  CHECK(sets.take(node.set).held == nullptr);
}

TEST_CASE("if a leader ends and leaves sets in the stage, the buddy keeps their replicas") {
  const Node node;
  {
    HeldSets sets(node.directory);
    sets.add(node.set, node.held());
    SECTION("held") {}
    SECTION("refused by storage") {
      HeldSets::Taken taken = sets.take(node.set);
      taken.waiting = {part(1)};
      sets.keep(node.set, std::move(taken));
    }
  }
  CHECK(node.is_sent());
}

TEST_CASE("what is told of a set can be taken back") {
  const Node node;
  HeldSets sets(node.directory);
  sets.tell({node.set, 2, 4, {}});
  auto names = *node.place.list(Box::safe);
  REQUIRE(names.size() == 1);
  CHECK(names.front().ends_with(".2.4"));
  sets.take_back({node.set});
  names = *node.place.list(Box::safe);
  REQUIRE(names.size() == 1);
  CHECK(names.front().ends_with(".0.4"));
  CHECK(sets.look().empty());
  sets.tell({node.set, 2, 4, {}});
  names = *node.place.list(Box::safe);
  REQUIRE(names.size() == 1);
  CHECK(names.front().ends_with(".2.4"));
  REQUIRE(node.place.move(names.front(), Box::safe, Box::agreed));
  CHECK(sets.look().size() == 1);

  sets.tell({node.set, 2, 4, 1});  // after a failed attempt
  const auto others = *node.place.list(Box::safe);
  REQUIRE(others.size() == 1);
  CHECK(others.front() != names.front());
}
