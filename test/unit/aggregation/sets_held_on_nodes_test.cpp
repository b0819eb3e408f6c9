// SPDX-License-Identifier: BSD-3-Clause
// flush= on several nodes: a set may go only once all nodes have a newer one that is as safe.
#include "test/support/catch.hpp"
#include "test/unit/aggregation/decisions_node.hpp"

using namespace mcr::aggregation;

namespace {

/// Two of the four ranks, of a job whose sets are held back on two nodes.
Node half_of_a_job() {
  Node node(4, 2);
  node.flush = 3;
  node.is_replicated = true;
  return node;
}

/// The ranks of this node write the file again.
void write_half(Node& node, std::uint64_t sequence) {
  const PartFacts one = node.begin(0, "a.{rank}", sequence);
  const PartFacts two = node.begin(1, "a.{rank}", sequence);
  node.wait(10);
  node.publish(one);
  node.publish(two);
  node.wait(1);
}

/// The same, once the first set is in storage; no further one is due.
Node half_with_first_set_in_storage() {
  Node node = half_of_a_job();
  node.flush = 100;
  write_half(node, 0);
  node.commit(node.of<DrainGroup>().back());
  return node;
}

SetName writing(std::uint64_t sequence) { return {"L", "a.{rank}", sequence}; }

/// The set goes into the memory of two nodes. Returns the set's parts.
std::vector<PartId> hold(Node& node, std::uint64_t sequence) {
  const auto holds = node.of<HoldSet>();
  REQUIRE_FALSE(holds.empty());
  const DrainGroup& group = holds.back().group;
  REQUIRE(group.set == writing(sequence));
  REQUIRE(group.parts.size() == 2);
  node.tell(SetHeld{group.drain, group.set, true});
  node.tell(SetReplicated{group.set});
  return group.parts;
}

/// Returns the sequences of the sets that were told to be safe here.
std::vector<std::uint64_t> told(const Node& node) {
  std::vector<std::uint64_t> sequences;
  for (const TellSafe& safe : node.of<TellSafe>()) {
    CHECK(safe.parts == 2);
    CHECK(safe.all == 4);
    sequences.push_back(safe.set.sequence);
  }
  return sequences;
}

using Sequences = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE(
    "flush= on several nodes: a set goes to two nodes' memory, until all nodes say that a newer "
    "one is safe") {
  Node node = half_of_a_job();
  write_half(node, 0);
  REQUIRE(node.of<DrainGroup>().size() == 1);
  CHECK(told(node).empty());
  node.commit(node.of<DrainGroup>().back());
  node.wait(300);
  CHECK(told(node) == Sequences{0});

  write_half(node, 1);
  CHECK(node.decisions.behind() == 1);
  hold(node, 1);
  CHECK(node.decisions.behind() == 0);
  CHECK(node.decisions.holds_back());
  node.wait(300);
  CHECK(told(node) == Sequences{0, 1});
  node.wait(60'000);
  CHECK(node.of<DrainGroup>().size() == 1);

  write_half(node, 2);
  hold(node, 2);
  CHECK(told(node) == Sequences{0, 1});  // it may drift yet
  node.wait(300);
  CHECK(told(node) == Sequences{0, 1, 2});
  CHECK(node.of<DrainGroup>().size() == 1);
  const auto groups = only<DrainGroup>(node.tell(SetAgreed{writing(2)}));
  REQUIRE(groups.size() == 1);
  CHECK(groups.front().set == writing(1));
  CHECK(groups.front().is_superseded);
  CHECK(groups.front().parts.size() == 2);
  node.tell(dropped(groups.front()));

  write_half(node, 3);  // the third one after the first
  const auto third = node.of<DrainGroup>();
  REQUIRE(third.size() == 3);
  CHECK(third.back().set == writing(3));
  CHECK_FALSE(third.back().is_superseded);
  node.wait(4000);
  node.commit(third.back());
  node.wait(1);
  CHECK(told(node) == Sequences{0, 1, 2, 3});
  const auto second = only<DrainGroup>(node.tell(SetAgreed{writing(3)}));
  REQUIRE(second.size() == 1);
  CHECK(second.front().set == writing(2));
  CHECK(second.front().is_superseded);
}

TEST_CASE("flush= on several nodes: in doubt the set goes to storage") {
  Node node = half_of_a_job();
  write_half(node, 0);
  node.commit(node.of<DrainGroup>().back());
  write_half(node, 1);
  const auto is_drained = [&node] {
    const auto groups = node.of<DrainGroup>();
    return groups.size() == 2 && groups.back().set == writing(1) && !groups.back().is_superseded;
  };
  SECTION("it cannot be held") {
    node.tell(SetHeld{node.of<HoldSet>().back().group.drain, writing(1), false});
    CHECK(is_drained());
  }
  SECTION("a part was dropped meanwhile") {
    const DrainGroup group = node.of<HoldSet>().back().group;
    node.tell(PartDropped{group.parts.front()});
    node.tell(SetHeld{group.drain, writing(1), true});
    CHECK(node.of<DrainGroup>().size() == 2);
    CHECK(node.of<DrainGroup>().back().parts.size() == 1);
  }
  SECTION("the buddy has no room") {
    node.tell(SetHeld{node.of<HoldSet>().back().group.drain, writing(1), true});
    CHECK_FALSE(is_drained());
    node.tell(SetReplicated{writing(1), true});
    CHECK(is_drained());
  }
  SECTION("the team does not send it") {
    node.tell(SetHeld{node.of<HoldSet>().back().group.drain, writing(1), true});
    node.wait(50'000);
    CHECK_FALSE(is_drained());
    node.wait(11'000);
    CHECK(is_drained());
  }
  SECTION("it is held") {
    hold(node, 1);
    CHECK_FALSE(is_drained());
    SECTION("the team dies") {
      node.tell(Hurry{false, false});
      CHECK(is_drained());
    }
    SECTION("the program ends") {
      node.tell(RankEnded{"p0", true});
      node.tell(RankEnded{"p1", true});
      CHECK(is_drained());
    }
    SECTION("the stage is nearly full") {
      node.tell(Hurry{true});
      CHECK(is_drained());
    }
    SECTION("SIGTERM") {
      node.tell(Terminate{});
      CHECK(is_drained());
    }
    SECTION("a rank on another node asks for it") {
      node.tell(PartRequested{node.of<HoldSet>().back().group.parts.front(), false});
      CHECK(is_drained());
    }
    SECTION("a new team does not know the replica") {
      node.tell(SetReplicated{writing(1), true});
      CHECK(is_drained());
    }
  }
}

TEST_CASE(
    "flush= on several nodes: if the others say nothing, older sets go to storage, and later ones "
    "at once") {
  Node node = half_with_first_set_in_storage();
  std::size_t drained = 1;
  for (std::uint64_t sequence = 1; sequence < 6; ++sequence) {
    write_half(node, sequence);
    if (!node.of<HoldSet>().empty() && node.of<HoldSet>().back().group.set == writing(sequence))
      hold(node, sequence);
    node.wait(20'000);
    for (const auto groups = node.of<DrainGroup>(); drained < groups.size(); ++drained) {
      CHECK_FALSE(groups[drained].is_superseded);
      node.commit(groups[drained]);
    }
  }
  CHECK(drained == 6);
  CHECK(node.of<HoldSet>().size() < 5);
}

TEST_CASE(
    "flush= on several nodes: at the program's end an older set waits a moment for the newest "
    "one") {
  Node node = half_with_first_set_in_storage();
  write_half(node, 1);
  hold(node, 1);
  write_half(node, 2);
  hold(node, 2);
  node.tell(RankEnded{"p0", true});
  node.tell(RankEnded{"p1", true});
  REQUIRE(node.of<DrainGroup>().size() == 2);
  CHECK(node.of<DrainGroup>().back().set == writing(2));
  node.commit(node.of<DrainGroup>().back());
  SECTION("the other nodes say that it is safe") {
    node.tell(SetAgreed{writing(2)});
    REQUIRE(node.of<DrainGroup>().size() == 3);
    CHECK(node.of<DrainGroup>().back().is_superseded);
  }
  SECTION("another node was lost") {
    node.wait(6000);
    REQUIRE(node.of<DrainGroup>().size() == 3);
    CHECK_FALSE(node.of<DrainGroup>().back().is_superseded);
  }
  CHECK(node.of<DrainGroup>().back().set == writing(1));
}

TEST_CASE("flush= on several nodes: a set that drifts is not told to be safe") {
  Node node = half_of_a_job();
  write_half(node, 0);
  node.commit(node.of<DrainGroup>().back());
  node.wait(300);
  const PartFacts late = node.begin(1, "a.{rank}", 1);
  node.publish(node.begin(0, "a.{rank}", 1));
  node.wait(10);
  node.begin(0, "a.{rank}", 2);
  node.wait(10);
  node.publish(late);
  node.wait(20'000);
  CHECK(told(node) == Sequences{0});
  CHECK(node.of<HoldSet>().empty());
}

TEST_CASE(
    "flush= with close=replicated: who closes waits until another node has the set, and no "
    "longer") {
  SECTION("several nodes") {
    Node node = half_of_a_job();
    node.waits_for_replica = true;
    write_half(node, 0);
    node.commit(node.of<DrainGroup>().back());
    write_half(node, 1);
    CHECK(node.decisions.somebody_waits());
    hold(node, 1);
    CHECK_FALSE(node.decisions.somebody_waits());
    CHECK(node.of<DrainGroup>().size() == 1);
  }
  SECTION("one node: each set goes to storage") {
    Node node(2);
    node.flush = 3;
    node.is_replicated = node.waits_for_replica = true;
    node.commit(write_all(node, 0).front());
    CHECK(write_all(node, 1).size() == 1);
  }
}

TEST_CASE("flush= on several nodes: close=durable brings the set to storage") {
  Node node = half_of_a_job();
  write_half(node, 0);
  node.commit(node.of<DrainGroup>().back());
  node.publish(node.facts(0, {"a.{rank}"}, 1));
  node.publish(node.facts(1, {"a.{rank}"}, 1), true);
  CHECK(node.of<HoldSet>().empty());
  REQUIRE(node.of<DrainGroup>().size() == 2);
  CHECK(node.of<DrainGroup>().back().set == writing(1));
}

TEST_CASE(
    "flush= on several nodes: a replica that went with a failed commit does not count any more") {
  Node node = half_of_a_job();
  write_half(node, 0);
  node.commit(node.of<DrainGroup>().back());
  node.wait(300);
  write_half(node, 1);
  const auto parts = hold(node, 1);
  node.tell(Hurry{true});
  const DrainGroup group = node.of<DrainGroup>().back();
  node.tell(SetReplicated{writing(1)});  // seen before the commit began
  node.tell(DrainDone{group.drain, {}, group.parts, true});
  for (const PartId& part : parts) node.tell(PutBackDone{part, PutBackEnd::taken_back});
  node.now += 1000;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PartFacts again = node.facts(rank, {"a.{rank}"}, 1);
    again.part = parts[rank];
    node.publish(again);
  }
  node.wait(1000);
  CHECK(told(node) == Sequences{0});
}

TEST_CASE("flush= on several nodes: what is not safe any more is taken back") {
  Node node = half_of_a_job();
  write_half(node, 0);
  node.commit(node.of<DrainGroup>().back());
  node.wait(300);
  write_half(node, 1);
  const auto parts = hold(node, 1);
  node.wait(300);
  CHECK(told(node) == Sequences{0, 1});
  node.tell(SetAgreed{writing(0)});
  CHECK(node.of<TakeBackSafe>().empty());
  SECTION("storage refuses the set") {
    node.tell(Hurry{true});
    const DrainGroup group = node.of<DrainGroup>().back();
    CHECK(node.of<TakeBackSafe>().empty());  // the replica is still there
    node.tell(DrainDone{group.drain, {}, group.parts, true});
  }
  SECTION("the program takes a file back") { node.tell(PartWithdrawn{parts.front()}); }
  SECTION("the buddy has lost the replica") {
    node.tell(SetReplicated{writing(1), true});
    REQUIRE(node.of<TakeBackSafe>().size() == 1);
    node.commit(node.of<DrainGroup>().back());
    node.wait(300);
    CHECK(told(node) == Sequences{0, 1, 1});
  }
  REQUIRE(node.of<TakeBackSafe>().size() == 1);
  CHECK(node.of<TakeBackSafe>().front().set == writing(1));
}

TEST_CASE("flush= on several nodes: a set whose files the program removed is not safe") {
  Node node = half_of_a_job();
  write_half(node, 0);
  const DrainGroup group = node.of<DrainGroup>().back();
  DrainDone done{group.drain, {}, {}};
  done.removed = group.parts;
  node.tell(done);
  node.wait(1000);
  CHECK(told(node).empty());
}

TEST_CASE("flush= on several nodes: the replica may be there before the answer that it was made") {
  Node node = half_of_a_job();
  write_half(node, 0);
  node.commit(node.of<DrainGroup>().back());
  write_half(node, 1);
  const DrainGroup group = node.of<HoldSet>().back().group;
  SECTION("the buddy has it") {
    node.tell(SetReplicated{writing(1)});
    node.tell(SetHeld{group.drain, group.set, true});
    node.wait(60'000);
    CHECK(told(node) == Sequences{0, 1});
    CHECK(node.of<DrainGroup>().size() == 1);
  }
  SECTION("the buddy has no room") {
    node.tell(SetReplicated{writing(1), true});
    node.tell(SetHeld{group.drain, group.set, true});
    CHECK(node.of<DrainGroup>().size() == 2);
  }
}

TEST_CASE("flush= on several nodes: nodes whose attempts failed at other times do not agree") {
  Node node = half_of_a_job();
  const auto write = [&node](std::uint64_t sequence, std::uint64_t of_first,
                             std::uint64_t of_second) {
    PartFacts one = node.facts(0, {"a.{rank}"}, sequence);
    PartFacts two = node.facts(1, {"a.{rank}"}, sequence);
    one.failed_attempts = of_first;
    two.failed_attempts = of_second;
    node.tell(PartBegun{one});
    node.tell(PartBegun{two});
    node.publish(one);
    node.publish(two);
    node.commit(node.of<DrainGroup>().back());
    node.wait(300);
  };
  write(0, 1, 1);
  REQUIRE(node.of<TellSafe>().size() == 1);
  CHECK(node.of<TellSafe>().back().failed_attempts == 1);
  write(3, 1, 2);
  CHECK(node.of<TellSafe>().size() == 1);
}

TEST_CASE("flush= on several nodes: the leader after one that died brings each set to storage") {
  Node node = half_of_a_job();
  node.decisions.succeed();
  write_half(node, 1);
  CHECK(node.of<HoldSet>().empty());
  CHECK(node.of<DrainGroup>().size() == 1);
}
