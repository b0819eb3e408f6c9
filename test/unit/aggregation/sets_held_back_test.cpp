// SPDX-License-Identifier: BSD-3-Clause
// flush= on one node: of sets that the program overwrites, the leader brings only some to storage.
#include "test/support/catch.hpp"
#include "test/unit/aggregation/decisions_node.hpp"

using namespace mcr::aggregation;

TEST_CASE(
    "flush=3: each third writing of the same files is drained, the others wait for a newer one") {
  Node node(2);
  node.flush = 3;
  const auto first = write_all(node, 0);
  REQUIRE(first.size() == 1);
  CHECK_FALSE(first.front().is_superseded);
  node.commit(first.front());
  CHECK(write_all(node, 1).empty());
  CHECK(node.decisions.holds_back());
  CHECK(node.decisions.behind() == 0);
  CHECK(only<DrainGroup>(node.wait(60'000)).empty());

  CHECK(write_all(node, 2).empty());
  CHECK(only<DrainGroup>(node.wait(100)).empty());  // it may drift yet
  CHECK(node.decisions.behind() == 1);
  const auto second = only<DrainGroup>(node.wait(500));
  REQUIRE(second.size() == 1);
  CHECK(second.front().set.sequence == 1);
  CHECK(second.front().is_superseded);
  CHECK(second.front().newer.size() == 2);
  node.tell(dropped(second.front()));

  const auto fourth = write_all(node, 3);
  REQUIRE(fourth.size() == 1);
  CHECK(fourth.front().set.sequence == 3);
  CHECK_FALSE(fourth.front().is_superseded);
  node.commit(fourth.front());  // before the third is dropped
  const auto third = only<DrainGroup>(node.wait(600));
  REQUIRE(third.size() == 1);
  CHECK(third.front().set.sequence == 2);
  CHECK(third.front().is_superseded);
}

TEST_CASE("flush=: what would lose the set if it waited brings it to storage") {
  Node node(2);
  node.flush = 10;
  node.commit(write_all(node, 0).front());
  CHECK(write_all(node, 1).empty());
  const auto is_drained = [](const std::vector<Decision>& decided) {
    const auto groups = only<DrainGroup>(decided);
    return groups.size() == 1 && groups.front().set.sequence == 1 && !groups.front().is_superseded;
  };
  SECTION("the program ends") {
    node.all.clear();
    node.tell(RankEnded{"p0", true});
    node.tell(RankEnded{"p1", true});
    CHECK(is_drained(node.all));
  }
  SECTION("the ranks die") {
    node.all.clear();
    node.tell(RankGone{"p0"});
    node.tell(RankGone{"p1"});
    CHECK(is_drained(node.all));
  }
  SECTION("the stage is nearly full, or the job ends soon") {
    CHECK(is_drained(node.tell(Hurry{true})));
  }
  SECTION("SIGTERM") { CHECK(is_drained(node.tell(Terminate{}))); }
  SECTION("a rank on another node asks for it") {
    PartFacts asked;
    asked.part.bytes[0] = node.last_id;
    CHECK(is_drained(node.tell(PartRequested{asked.part, false})));
  }
}

TEST_CASE(
    "flush=: a set stays while a rank still writes the newer one, or has taken its part back") {
  Node node(2);
  node.flush = 10;
  node.commit(write_all(node, 0).front());
  CHECK(write_all(node, 1).empty());
  const PartFacts mine = node.begin(0, "a.{rank}", 2);
  const PartFacts other = node.begin(1, "a.{rank}", 2);
  node.wait(10);
  const auto drains_older = [&] {
    const auto groups = node.of<DrainGroup>();
    return std::any_of(groups.begin(), groups.end(),
                       [](const DrainGroup& group) { return group.set.sequence == 1; });
  };
  node.publish(mine);
  node.wait(9'000);
  node.publish(other);
  node.tell(PartWithdrawn{other.part});
  node.wait(60'000);
  CHECK_FALSE(drains_older());
  // The program dies in the middle of the newer writing: the last whole set is drained.
  node.tell(RankGone{"p0"});
  node.tell(RankGone{"p1"});
  CHECK(drains_older());
  for (const DrainGroup& group : node.of<DrainGroup>()) CHECK_FALSE(group.is_superseded);
}

TEST_CASE("flush=: once a writer has ended or died, its set goes to storage") {
  Node node(2);
  node.flush = 10;
  node.commit(write_all(node, 0).front());
  CHECK(write_all(node, 1).empty());
  std::vector<DrainGroup> groups;
  SECTION("one of two ranks has ended") {
    groups = only<DrainGroup>(node.tell(RankEnded{"p1", true}));
  }
  SECTION("one of two ranks is gone") { groups = only<DrainGroup>(node.tell(RankGone{"p0"})); }
  REQUIRE(groups.size() == 1);
  CHECK(groups.front().set.sequence == 1);
  CHECK(groups.front().parts.size() == 2);
  CHECK_FALSE(groups.front().is_superseded);
  CHECK_FALSE(node.decisions.holds_back());
}

TEST_CASE("flush=: a set of several groups is not held back, and none of its groups is dropped") {
  Node node(4);
  node.flush = 10;
  node.group_size = 2;
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    auto groups = write_all(node, sequence);
    const auto later = only<DrainGroup>(node.wait(300));
    groups.insert(groups.end(), later.begin(), later.end());
    CHECK(groups.size() == 2);
    if (sequence != 1)  // while the leader writes set 1, set 2 becomes whole
      for (const DrainGroup& group : groups) node.commit(group);
  }
  for (const DrainGroup& group : node.of<DrainGroup>()) CHECK_FALSE(group.is_superseded);
}

TEST_CASE("flush=: a set with a second part of a rank is not dropped") {
  Node node(2);
  node.flush = 10;
  node.commit(write_all(node, 0).front());
  CHECK(write_all(node, 1).empty());
  PartFacts second = node.begin(0, "a.{rank}", 1);
  SECTION("the second part is closed before the newer set") { node.publish(second); }
  SECTION("the second part stays open") {}
  write_all(node, 2);
  node.wait(60'000);
  node.tell(Hurry{true});
  CHECK(node.of<DrainGroup>().size() > 1);
  for (const DrainGroup& group : node.of<DrainGroup>()) CHECK_FALSE(group.is_superseded);
}

TEST_CASE("flush=: a set for which somebody waits is not dropped, though a newer one is whole") {
  Node node(2);
  node.flush = 10;
  node.commit(write_all(node, 0).front());
  CHECK(write_all(node, 1).empty());
  PartFacts asked;
  asked.part.bytes[0] = node.last_id;
  write_all(node, 2);
  node.now += 1000;
  const auto groups = only<DrainGroup>(node.tell(PartRequested{asked.part, false}));
  REQUIRE(groups.size() == 1);
  CHECK(groups.front().set.sequence == 1);
  CHECK_FALSE(groups.front().is_superseded);
}

TEST_CASE("flush=: sets of several nodes, files of one rank and drifted sets are drained as ever") {
  SECTION("another node has ranks") {
    Node node(4, 2);
    node.flush = 3;
    for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
      node.write(0, "a.{rank}", sequence);
      node.write(1, "a.{rank}", sequence);
      node.wait(20'000);
      CHECK(node.of<DrainGroup>().size() == sequence + 1);
      node.commit(node.of<DrainGroup>().back());
    }
  }
  SECTION("one of two ranks writes files") {
    Node node(2);
    node.flush = 3;
    for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
      PartFacts facts = node.facts(0, {"a.{rank}"}, sequence);
      facts.may_be_lone = false;
      node.publish(facts);
      node.wait(20'000);
      CHECK(node.of<DrainGroup>().size() == sequence + 1);
      node.commit(node.of<DrainGroup>().back());
    }
  }
  SECTION("the newer set has drifted") {
    Node node(2);
    node.flush = 3;
    node.commit(write_all(node, 0).front());
    CHECK(write_all(node, 1).empty());
    const PartFacts late = node.begin(1, "a.{rank}", 2);
    node.publish(node.begin(0, "a.{rank}", 2));
    node.wait(10);
    const PartFacts early = node.begin(0, "a.{rank}", 3);
    node.wait(10);
    node.publish(late);
    node.wait(60'000);
    for (const DrainGroup& group : node.of<DrainGroup>()) CHECK_FALSE(group.is_superseded);
  }
}
