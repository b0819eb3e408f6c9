// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/decisions.hpp"

#include <algorithm>
#include <ctime>

#include "test/support/catch.hpp"
#include "test/unit/aggregation/decisions_node.hpp"

using namespace mcr::aggregation;

TEST_CASE(
    "who computes does not wait, and who ends, closed durably or asked from another node does") {
  Node node(2);
  CHECK_FALSE(node.decisions.somebody_waits());
  node.write(0, "a.{rank}");
  CHECK_FALSE(node.decisions.somebody_waits());
  SECTION("both at their end, then gone") {
    node.tell(RankEnded{"p0", true});
    CHECK_FALSE(node.decisions.somebody_waits());
    node.tell(RankEnded{"p1", true});
    CHECK(node.decisions.somebody_waits());
    node.tell(RankGone{"p0"});
    CHECK(node.decisions.somebody_waits());
    node.tell(RankGone{"p1"});
    CHECK_FALSE(node.decisions.somebody_waits());
  }
  SECTION("a crash leaves nobody who waits") {
    node.tell(RankGone{"p0"});
    node.tell(RankGone{"p1"});
    CHECK_FALSE(node.decisions.somebody_waits());
  }
  SECTION("a durable close") {
    node.publish(node.facts(1, {"a.{rank}"}), true);
    CHECK(node.decisions.somebody_waits());
  }
  SECTION("another node's opener") {
    const PartFacts part = node.facts(1, {"a.{rank}"});
    node.publish(part);
    node.tell(PartRequested{part.part, false});
    CHECK(node.decisions.somebody_waits());
  }
  SECTION("SIGTERM") {
    node.tell(Terminate{});
    CHECK(node.decisions.somebody_waits());
  }
}

TEST_CASE("the leader counts how many closed sets of one pattern are not committed") {
  Node node(2);
  node.decisions = Decisions(Patience{.calm_ms = 100, .lag = 2});
  node.tell(RankJoined{"p0", 0});
  node.tell(RankJoined{"p1", 1});
  node.write(0, "/d/a1.{rank}.h5");
  node.write(0, "/d/a2.{rank}.h5");
  CHECK(node.decisions.behind() == 0);  // rank 1 has not closed its files
  node.write(1, "/d/a1.{rank}.h5");
  node.write(1, "/d/b1.{rank}.h5");
  node.write(0, "/d/b1.{rank}.h5");
  CHECK(node.decisions.behind() == 1);  // one of each pattern
  CHECK_FALSE(node.decisions.is_behind());
  CHECK_FALSE(node.decisions.somebody_waits());
  CHECK(node.of<DrainGroup>().empty());  // they were closed a moment ago
  node.write(1, "/d/a2.{rank}.h5");
  CHECK(node.decisions.behind() == 2);
  CHECK(node.decisions.is_behind());
  CHECK(node.decisions.somebody_waits());
  const auto drained = node.of<DrainGroup>();  // without a further delay
  REQUIRE(drained.size() == 3);
  CHECK(node.decisions.behind() == 2);  // drained is not committed
  for (const DrainGroup& group : drained) node.commit(group);
  CHECK(node.decisions.behind() == 0);
}

TEST_CASE("small files of a one-process program that share containers count as one set") {
  Node node(1);
  node.decisions = Decisions(Patience{.calm_ms = 0, .lag = 2});
  node.tell(RankJoined{"p0", 0});
  for (int n = 0; n < 20; ++n) {
    PartFacts it = node.facts(0, {"/d/f" + std::to_string(n) + ".h5"});
    it.bundle_family = "/d/f{n}.h5";
    node.publish(it);
  }
  CHECK(node.decisions.behind() == 1);
}

TEST_CASE("a set is drained at once when the last local rank publishes") {
  Node node(4);
  for (std::uint32_t r = 0; r < 3; ++r)
    CHECK(only<DrainGroup>(node.write(r, "/d/a.{rank}.h5")).empty());
  const auto drained = only<DrainGroup>(node.write(3, "/d/a.{rank}.h5"));
  REQUIRE(drained.size() == 1);
  CHECK(drained[0].ranks == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(drained[0].set.masked_name == "/d/a.{rank}.h5");
  CHECK(drained[0].supplement == 0);
}

TEST_CASE("groups are runs of consecutive ranks") {
  Node node(5);
  node.group_size = 2;
  for (std::uint32_t r = 0; r < 5; ++r) node.write(r, "/d/a.{rank}.h5");
  const auto drained = node.of<DrainGroup>();
  REQUIRE(drained.size() == 3);
  CHECK(drained[0].ranks == std::vector<std::uint32_t>{0, 1});
  CHECK(drained[1].ranks == std::vector<std::uint32_t>{2, 3});
  CHECK(drained[2].ranks == std::vector<std::uint32_t>{4});
}

TEST_CASE(
    "a set that stays incomplete is drained after set_wait and its late part supplements it") {
  Node node(3);
  node.write(0, "/d/a.{rank}.h5");
  node.write(1, "/d/a.{rank}.h5");
  CHECK(only<DrainGroup>(node.wait(9'999)).empty());
  const auto drained = only<DrainGroup>(node.wait(1));
  REQUIRE(drained.size() == 1);
  node.commit(drained[0]);
  const auto late = only<DrainGroup>(node.write(2, "/d/a.{rank}.h5"));
  REQUIRE(late.size() == 1);
  CHECK(late[0].ranks == std::vector<std::uint32_t>{2});
  CHECK(late[0].supplement == 1);
}

TEST_CASE("steps under the same name are sets of their own") {
  Node node(2);
  node.write(0, "/d/a.{rank}.h5", 0);
  node.write(0, "/d/a.{rank}.h5", 1);
  node.write(1, "/d/a.{rank}.h5", 0);
  const auto drained = node.of<DrainGroup>();
  REQUIRE(drained.size() == 1);
  CHECK(drained[0].set.sequence == 0);
}

TEST_CASE("nobody left on the node means drain at once") {
  Node node(4);
  node.write(0, "/d/a.{rank}.h5");
  node.write(1, "/d/a.{rank}.h5");
  for (int r = 0; r < 3; ++r) node.tell(RankEnded{"p" + std::to_string(r)});
  CHECK(node.of<DrainGroup>().empty());
  node.tell(RankGone{"p3"});  // died
  CHECK(node.of<DrainGroup>().size() == 1);
}

TEST_CASE("a rank that died without its part is not waited for") {
  Node node(3);
  node.write(0, "/d/a.{rank}.h5");
  node.tell(RankGone{"p2"});
  CHECK(node.of<DrainGroup>().empty());
  node.write(1, "/d/a.{rank}.h5");
  CHECK(node.of<DrainGroup>().size() == 1);
}

TEST_CASE("a durable part waits a tenth of a second for its set and no longer") {
  Node node(2);
  node.publish(node.facts(0, {"/d/a.{rank}.h5"}), true);
  node.tell(PartBegun{node.facts(1, {"/d/a.{rank}.h5"})});  // company: it is not lone
  CHECK(only<DrainGroup>(node.wait(99)).empty());
  CHECK(only<DrainGroup>(node.wait(1)).size() == 1);
}

TEST_CASE(
    "a lone file is put back natively after a second, and its pattern goes native the second "
    "time") {
  Node node(8);
  const auto first = node.facts(0, {"/d/log_{rank}.h5"});
  node.publish(first);
  CHECK(only<LookForSiblings>(node.wait(999)).empty());
  CHECK(only<LookForSiblings>(node.wait(1)).size() == 1);
  auto decided = node.tell(SiblingsLookedUp{first.part, {}});
  REQUIRE(only<PutBack>(decided).size() == 1);
  CHECK(only<MarkNative>(decided).empty());
  node.tell(PutBackDone{first.part, PutBackEnd::done});

  const auto second = node.facts(0, {"/d/log_{rank}.h5"}, 1);
  node.publish(second);
  node.wait(1000);
  decided = node.tell(SiblingsLookedUp{second.part, {}});
  REQUIRE(only<MarkNative>(decided).size() == 1);
  CHECK(only<MarkNative>(decided)[0].pattern == "/d/log_{rank}.h#");
  CHECK(node.of<DrainGroup>().empty());
}

TEST_CASE(
    "a rank that ends before the others have begun is not taken for the only writer at once") {
  Node node(4, 2);
  const auto early = node.facts(0, {"/d/a.{rank}.h5"});
  node.publish(early);
  node.tell(RankEnded{"p1"});
  CHECK(only<LookForSiblings>(node.tell(RankEnded{"p0"})).empty());
  CHECK(only<LookForSiblings>(node.wait(999)).empty());
  CHECK(only<LookForSiblings>(node.wait(1)).size() == 1);
}

TEST_CASE("a file of one rank waits for no sibling once all ranks of the launch have ended") {
  Node node(2);
  const auto only_one = node.facts(0, {"/d/a.{rank}.h5"});
  node.publish(only_one);
  CHECK(only<LookForSiblings>(node.tell(RankEnded{"p1"})).empty());
  REQUIRE(only<LookForSiblings>(node.tell(RankEnded{"p0"})).size() == 1);
  CHECK(only<PutBack>(node.tell(SiblingsLookedUp{only_one.part, {}})).size() == 1);
}

TEST_CASE(
    "files of some ranks wait for no other rank once one knows at its end that all have begun") {
  for (const bool all_have_begun : {false, true}) {
    Node node(4, 4, 2);
    const auto first = node.facts(0, {"/d/a.{rank}.h5"});
    const auto second = node.facts(1, {"/d/a.{rank}.h5"});
    node.publish(first);
    node.publish(second);
    node.tell(RankEnded{"p0", true, all_have_begun});
    CHECK(only<DrainGroup>(node.tell(RankEnded{"p1", true, all_have_begun})).size() ==
          (all_have_begun ? 1 : 0));
    CHECK(only<DrainGroup>(node.wait(5000)).size() == (all_have_begun ? 0 : 1));
  }
}

TEST_CASE("a look at parts that may be lone costs as much for each, however many there are") {
  const auto seconds = [](std::uint32_t count) {
    Node node(2);
    std::vector<Event> events;
    for (std::uint32_t i = 0; i < count; ++i) {
      PartFacts facts = node.facts(0, {"/d/a" + std::to_string(i) + ".{rank}.h5"});
      facts.part.bytes[1] = static_cast<std::uint8_t>(i);
      facts.part.bytes[2] = static_cast<std::uint8_t>(i >> 8);
      events.emplace_back(PartPublished{facts, node.now * 1'000'000, false, false});
    }
    node.decisions.on(events, node.now);
    const std::clock_t begin = std::clock();
    for (int look = 0; look < 5; ++look) node.tell(Tick{});
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const double few = std::max(seconds(1000), 0.005);
  CHECK(seconds(8000) < 24 * few);  // 64 times as much if each part looked at all others
}

TEST_CASE("a file that looked lone and gets a sibling late does not count") {
  Node node(2);
  for (std::uint64_t n = 0; n < 3; ++n) {
    const auto early = node.facts(0, {"/d/s" + std::to_string(n) + "_{rank}.h5"});
    node.publish(early);
    node.wait(1000);
    node.tell(SiblingsLookedUp{early.part, {}});
    node.tell(PutBackDone{early.part, PutBackEnd::done});
    node.write(1, "/d/s" + std::to_string(n) + "_{rank}.h5");
  }
  CHECK(node.of<MarkNative>().empty());
  CHECK(node.of<PutBack>().size() == 1);  // from then on the pattern is known to have siblings
}

TEST_CASE("siblings on another node make a set of one local rank") {
  Node node(4, 1);
  const auto part = node.facts(0, {"/d/a.{rank}.h5"});
  node.publish(part);
  CHECK(node.of<DrainGroup>().empty());
  node.wait(1000);
  CHECK(only<DrainGroup>(node.tell(SiblingsLookedUp{part.part, 0})).size() == 1);
  // The pattern is known now: the next set does not wait.
  CHECK(only<DrainGroup>(node.write(0, "/d/b.{rank}.h5")).empty());
  CHECK(only<DrainGroup>(node.write(0, "/d/a.{rank}.h5", 1)).size() == 1);
}

TEST_CASE("a lone part that cannot be put back is drained like any other") {
  Node node(8);
  const auto part = node.facts(0, {"/d/tmp.{rank}.h5"});
  node.publish(part);
  node.wait(1000);
  node.tell(SiblingsLookedUp{part.part, {}});
  node.tell(PutBackDone{part.part, PutBackEnd::not_possible});
  CHECK(only<DrainGroup>(node.wait(10'000)).size() == 1);
}

TEST_CASE("a part that its rank takes back during a put back is put back later") {
  Node node(8);
  const auto part = node.facts(0, {"/d/tmp.{rank}.h5"});
  node.publish(part);
  node.wait(1000);
  REQUIRE(only<PutBack>(node.tell(SiblingsLookedUp{part.part, {}})).size() == 1);
  node.tell(PutBackDone{part.part, PutBackEnd::taken_back});
  node.publish(part);  // reported again
  CHECK(only<LookForSiblings>(node.wait(1000)).size() == 1);
  CHECK(only<PutBack>(node.tell(SiblingsLookedUp{part.part, {}})).size() == 1);
}

TEST_CASE("a request stays if the rank takes the part back during a put back") {
  Node node(8);
  const auto part = node.facts(0, {"/d/tmp.{rank}.h5"});
  node.publish(part);
  REQUIRE(only<PutBack>(node.tell(PartRequested{part.part, true})).size() == 1);
  node.tell(PutBackDone{part.part, PutBackEnd::taken_back});
  CHECK(only<PutBack>(node.publish(part)).size() == 1);
}

TEST_CASE(
    "a part that fails is tried again soon, also where the rest of its set was committed since") {
  Node node(2);
  node.group_size = 1;
  const auto first = node.facts(0, {"/d/a.{rank}.h5"});
  node.publish(first);
  node.write(1, "/d/a.{rank}.h5");
  const auto groups = node.of<DrainGroup>();
  REQUIRE(groups.size() == 2);
  node.tell(DrainDone{groups[0].drain, {}, {first.part}, false});
  node.commit(groups[1]);
  node.tell(PutBackDone{first.part, PutBackEnd::not_possible});
  CHECK(only<DrainGroup>(node.wait(2000)).size() == 1);
}

TEST_CASE("an ambiguous name follows the other ranks' names") {
  Node node(4);
  for (const std::uint32_t r : {0U, 1U, 2U}) node.write(r, "/DD0003.cpu{rank}");
  const auto both = node.facts(3, {"/DD0003.cpu{rank}", "/DD{rank}.cpu0003"});
  const auto drained = only<DrainGroup>(node.publish(both));
  REQUIRE(drained.size() == 1);
  CHECK(drained[0].set.masked_name == "/DD0003.cpu{rank}");
  CHECK(drained[0].ranks.size() == 4);
}

TEST_CASE("an ambiguous name that came first follows the others, likeliest or not") {
  Node node(3);
  node.publish(node.facts(1, {"/wrong.{rank}.1", "/right.1.{rank}"}));
  node.write(0, "/right.1.{rank}");
  const auto drained = only<DrainGroup>(node.write(2, "/right.1.{rank}"));
  REQUIRE(drained.size() == 1);
  CHECK(drained[0].ranks.size() == 3);
}

TEST_CASE("an ambiguous name without company is decided by the siblings on disk") {
  Node node(4, 1);
  const auto part = node.facts(0, {"/a{rank}.b0", "/a0.b{rank}"});
  node.publish(part);
  node.wait(1000);
  const auto drained = only<DrainGroup>(node.tell(SiblingsLookedUp{part.part, 1}));
  REQUIRE(drained.size() == 1);
  CHECK(drained[0].set.masked_name == "/a0.b{rank}");
}

TEST_CASE("a name that is not clear is looked up under every rule of files=") {
  Node node(4);
  PartFacts both = node.facts(0, {"/ck_00000_{rank}.h5", "/ck_{rank}_000.h5"});
  both.may_be_lone = false;
  node.publish(both);
  for (std::uint32_t r = 0; r < 4; ++r) node.tell(RankEnded{"p" + std::to_string(r)});
  node.wait(1000);
  REQUIRE(node.of<LookForSiblings>().size() == 1);
  const auto drained = only<DrainGroup>(node.tell(SiblingsLookedUp{both.part, {}}));
  REQUIRE(drained.size() == 1);
  CHECK(drained[0].set.masked_name == "/ck_00000_{rank}.h5");
}

TEST_CASE(
    "a file that is captured whoever writes it is a set of its own where nobody else has one") {
  Node node(4);
  PartFacts facts = node.facts(0, {"/d/log_{rank}.h5"});
  facts.lone_name = "/d/log_0.h5";
  facts.family = "/d/log_#.h5";
  node.publish(facts);
  SECTION("at once when all ranks of the launch are at their end") {
    for (std::uint32_t r = 0; r < 4; ++r) node.tell(RankEnded{"p" + std::to_string(r), true});
    REQUIRE(node.of<LookForSiblings>().size() == 1);
    const auto drained = only<DrainGroup>(node.tell(SiblingsLookedUp{facts.part, {}}));
    REQUIRE(drained.size() == 1);
    CHECK(drained[0].set.masked_name == "/d/log_0.h5");
    CHECK(drained[0].passed_ranks.empty());
    CHECK(node.of<PutBack>().empty());
  }
  SECTION("while they live: when the set has had its time") {
    node.wait(1000);
    node.tell(SiblingsLookedUp{facts.part, {}});
    CHECK(node.of<DrainGroup>().empty());
    for (int i = 0; i < 20 && node.of<DrainGroup>().empty(); ++i) {
      if (!only<LookForSiblings>(node.wait(1000)).empty())
        node.tell(SiblingsLookedUp{facts.part, {}});
    }
    REQUIRE(node.of<DrainGroup>().size() == 1);
    CHECK(node.of<DrainGroup>()[0].set.masked_name == "/d/log_0.h5");
  }
  SECTION("company makes it one of a set") {
    for (std::uint32_t r = 1; r < 4; ++r) {
      PartFacts other = node.facts(r, {"/d/log_{rank}.h5"});
      other.lone_name = "/d/log_" + std::to_string(r) + ".h5";
      node.publish(other);
    }
    REQUIRE(node.of<DrainGroup>().size() == 1);
    CHECK(node.of<DrainGroup>()[0].parts.size() == 4);
  }
}

TEST_CASE("files of which one bears a number that is no rank are all treated alike") {
  Node node(4);
  PartFacts fits = node.facts(0, {"/f_{rank}_1.h5"});
  fits.family = "/f_#_#.h5";
  SECTION("files=auto: native, also those that several ranks seem to have") {
    node.publish(fits);
    PartFacts also = node.facts(1, {"/f_{rank}_1.h5"});
    also.family = fits.family;
    node.publish(also);
    const auto decided = node.tell(FamilyUnranked{fits.family});
    CHECK(only<PutBack>(decided).size() == 2);
    REQUIRE(only<MarkNative>(decided).size() == 1);
    CHECK(only<MarkNative>(decided)[0].pattern == fits.family);
    SECTION("one that cannot be put back is drained") {
      node.tell(PutBackDone{fits.part, PutBackEnd::not_possible});
      node.tell(PutBackDone{also.part, PutBackEnd::done});
      node.wait(20'000);
      CHECK(node.of<DrainGroup>().size() == 1);
    }
  }
  SECTION("files=*: each a set of its own, before and after") {
    fits.lone_name = "/f_0_1.h5";
    node.publish(fits);
    PartFacts other = node.facts(2, {"/f_1_1.h5"});
    other.family = fits.family;
    other.is_unranked = true;
    other.writers = 1;
    other.may_be_lone = false;
    node.publish(other);
    PartFacts later = node.facts(2, {"/f_1_{rank}.h5"});
    later.lone_name = "/f_1_2.h5";
    later.family = fits.family;
    node.publish(later);
    const auto drained = node.of<DrainGroup>();
    REQUIRE(drained.size() == 3);
    for (const DrainGroup& group : drained)
      CHECK(group.set.masked_name.find('{') == std::string::npos);
  }
}

TEST_CASE(
    "native files that any rank may have written are looked at again, and then decide nothing") {
  Node node(4);
  PartFacts facts = node.facts(0, {"/s_7.{rank}.h5"});
  node.publish(facts);
  node.wait(1000);
  CHECK(node.tell(SiblingsLookedUp{facts.part, 0, false}).empty());
  SECTION("a stub comes") {
    CHECK(only<LookForSiblings>(node.wait(1000)).size() == 1);
    node.tell(SiblingsLookedUp{facts.part, 0, true});
    CHECK(node.of<PutBack>().empty());
  }
  SECTION("nothing comes") {
    for (std::uint32_t r = 0; r < 4; ++r) node.tell(RankEnded{"p" + std::to_string(r)});
    CHECK(node.of<LookForSiblings>().size() == 2);
    CHECK(only<PutBack>(node.tell(SiblingsLookedUp{facts.part, 0, false})).size() == 1);
    CHECK(node.of<DrainGroup>().empty());
  }
}

TEST_CASE("a dead writer's open part is settled; a living one's is left alone") {
  Node node(2);
  const auto open = node.begin(0, "/d/a.{rank}.h5");
  node.begin(1, "/d/a.{rank}.h5");
  const auto decided = node.tell(RankGone{"p0"});
  REQUIRE(only<Settle>(decided).size() == 1);
  CHECK(only<Settle>(decided)[0].part == open.part);
  CHECK(node.of<DrainGroup>().empty());
  CHECK(node.of<Settle>().size() == 1);
}

TEST_CASE("a part that went native counts as one of its set") {
  Node node(2);
  node.tell(PartPublished{node.facts(1, {"/d/a.{rank}.h5"}), 1, false, true});
  CHECK(node.of<DrainGroup>().empty());
  CHECK(only<DrainGroup>(node.write(0, "/d/a.{rank}.h5")).size() == 1);
}

TEST_CASE("a file without a rank in its name waits for nobody") {
  Node node(8);
  PartFacts facts = node.facts(3, {"/d/master.h5"});
  facts.writers = 1;
  facts.may_be_lone = false;
  CHECK(only<DrainGroup>(node.publish(facts)).size() == 1);
}

TEST_CASE("a rank's two files of one set lie in one group, two writings of one file in two") {
  Node node(2);
  PartFacts one = node.facts(0, {"/d/f.{part}.h5"});
  PartFacts two = node.facts(0, {"/d/f.{part}.h5"});
  two.path = "/d/f.7.h5";
  PartFacts again = node.facts(0, {"/d/f.{part}.h5"});
  for (PartFacts* it : {&one, &two, &again}) {
    it->may_be_lone = false;
    node.publish(*it);
  }
  node.wait(10'000);
  const auto drained = node.of<DrainGroup>();
  REQUIRE(drained.size() == 2);
  CHECK(drained[0].parts.size() == 2);
  CHECK(drained[1].parts == std::vector<PartId>{again.part});
}

TEST_CASE("a withdrawn part is not drained until it is published again") {
  Node node(2);
  const auto part = node.begin(0, "/d/a.{rank}.h5");
  node.publish(part);
  node.tell(PartWithdrawn{part.part});
  node.write(1, "/d/a.{rank}.h5");
  CHECK(node.of<DrainGroup>().empty());
  CHECK(only<DrainGroup>(node.publish(part)).size() == 1);
}

TEST_CASE(
    "when storage refuses, parts are put back, all patterns go native, and what remains is tried "
    "again") {
  Node node(2);
  node.write(0, "/d/a.{rank}.h5");
  node.write(1, "/d/a.{rank}.h5");
  const auto first = node.of<DrainGroup>().at(0);
  auto decided = node.tell(DrainDone{first.drain, {}, first.parts, true});
  CHECK(only<PutBack>(decided).size() == 2);
  CHECK(only<StorageFailed>(decided).size() == 1);
  node.tell(PutBackDone{first.parts[0], PutBackEnd::done});
  node.tell(PutBackDone{first.parts[1], PutBackEnd::not_possible});
  CHECK(only<DrainGroup>(node.wait(1999)).empty());
  const auto again = only<DrainGroup>(node.wait(1));
  REQUIRE(again.size() == 1);
  CHECK(again[0].parts == std::vector<PartId>{first.parts[1]});
}

TEST_CASE(
    "a directory that goes away while its set is committed is neither storage's fault nor the "
    "files'") {
  Node node(1);
  node.write(0, "new/ck.h5");
  node.wait(60'000);
  const auto groups = node.of<DrainGroup>();
  REQUIRE(groups.size() == 1);
  DrainDone done{groups[0].drain, {}, groups[0].parts};
  done.place_went_away = true;
  node.tell(done);
  CHECK(node.of<PutBack>().size() == 1);
  CHECK(node.of<StorageFailed>().empty());
  CHECK(node.of<MarkNative>().empty());
}

TEST_CASE("a part whose stub storage refuses is drained again later, and its files stay captured") {
  Node node(1);
  node.write(0, "/d/other.h5");
  node.write(0, "/d/a.h5");
  const DrainGroup other = node.of<DrainGroup>().at(0);
  node.tell(RankGone{"p0"});
  std::size_t drains = 3;
  SECTION("another set is committed before it") { node.commit(other); }
  SECTION("another set is committed after the second refusal, and the count begins anew") {
    for (int round = 0; round < 2; ++round) {
      node.refuse_stubs(node.of<DrainGroup>().back());
      node.wait(60'000);
    }
    node.commit(other);
    drains = 5;
  }
  node.answer_until_exit([&](const DrainGroup& group) {
    node.refuse_stubs(group);
    CHECK(only<DrainGroup>(node.wait(1999)).empty());
  });
  CHECK(node.of<PutBack>().empty());
  CHECK(node.of<MarkNative>().empty());
  CHECK(node.of<DrainGroup>().size() == 1 + drains);
  REQUIRE(node.of<Exit>().size() == 1);
  CHECK_FALSE(node.of<Exit>()[0].complete);
}

TEST_CASE("storage that refuses for ever ends the leader with the parts still in the stage") {
  Node node(1);
  node.write(0, "/d/a.h5");
  node.tell(RankGone{"p0"});
  node.answer_until_exit([&](const DrainGroup& group) { node.refuse(group); });
  CHECK(node.of<DrainGroup>().size() == 3);
  REQUIRE(node.of<Exit>().size() == 1);
  CHECK_FALSE(node.of<Exit>()[0].complete);
}

TEST_CASE("a leader that makes progress does not give up") {
  Node node(1);
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    node.write(0, "/d/" + std::string(name) + ".h5");
  const auto drained = node.of<DrainGroup>();
  REQUIRE(drained.size() == 6);
  node.tell(RankGone{"p0"});
  const bool takes_containers = GENERATE(true, false);
  for (std::size_t i = 0; i < drained.size(); i += 2) {
    node.commit(drained[i]);
    takes_containers ? node.refuse_stubs(drained[i + 1]) : node.refuse(drained[i + 1]);
  }
  CHECK(node.of<Exit>().empty());
  const auto again = only<DrainGroup>(node.wait(2000));
  REQUIRE(again.size() == 3);
  for (const DrainGroup& group : again) node.commit(group);
  REQUIRE(node.of<Exit>().size() == 1);
  CHECK(node.of<Exit>()[0].complete);
}

TEST_CASE(
    "a leader without processes tries each part three times, however many storage refuses at "
    "once") {
  SECTION("parts of one set") {
    Node node(3);
    for (std::uint32_t rank = 0; rank < 3; ++rank) node.write(rank, "/d/a.{rank}.h5");
    for (const char* presence : {"p0", "p1", "p2"}) node.tell(RankGone{presence});
    node.answer_until_exit([&](const DrainGroup& group) { node.refuse(group); });
    CHECK(node.of<DrainGroup>().size() == 3);
  }
  SECTION("sets") {
    Node node(1);
    for (const char* name : {"a", "b", "c"}) node.write(0, "/d/" + std::string(name) + ".h5");
    const auto drained = node.of<DrainGroup>();
    REQUIRE(drained.size() == 3);
    node.tell(RankGone{"p0"});
    for (const DrainGroup& group : drained) node.refuse_stubs(group);
    CHECK(node.of<Exit>().empty());
    CHECK(only<DrainGroup>(node.wait(2000)).size() == 3);
  }
}

TEST_CASE("the leader ends when all processes are gone and nothing is pending") {
  Node node(2);
  node.write(0, "/d/a.{rank}.h5");
  node.write(1, "/d/a.{rank}.h5");
  node.tell(RankEnded{"p0"});
  node.tell(RankEnded{"p1"});
  node.tell(RankGone{"p0"});
  node.tell(RankGone{"p1"});
  CHECK(node.of<Exit>().empty());
  const auto decided = node.commit(node.of<DrainGroup>().at(0));
  REQUIRE(only<Exit>(decided).size() == 1);
  CHECK(only<Exit>(decided)[0].complete);
}

TEST_CASE("a leader that nobody joins ends after its patience") {
  Decisions decisions;
  CHECK(decisions.on({Tick{}}, 0).empty());
  CHECK(decisions.next_tick_ms() == 10'000U);
  CHECK(only<Exit>(decisions.on({Tick{}}, 10'000)).size() == 1);
}

TEST_CASE("a leader whose ranks only share what they read ends when nothing of it is left") {
  Decisions decisions;
  CHECK(decisions.on({FramesShared{true}}, 0).empty());
  CHECK(decisions.on({FramesShared{true}, Tick{}}, 3'600'000).empty());
  CHECK(only<Exit>(decisions.on({FramesShared{false}}, 3'600'100)).size() == 1);
}

TEST_CASE(
    "a leader stays while containers are watched that may lose their names, but not after "
    "SIGTERM") {
  Node node(1);
  node.write(0, "a.{rank}");
  node.commit(node.of<DrainGroup>().at(0));
  CHECK(only<Exit>(node.tell(ContainersWatched{true})).empty());
  CHECK(only<Exit>(node.tell(RankGone{"p0"})).empty());
  SECTION("until none is left") {
    CHECK(only<Exit>(node.tell(ContainersWatched{false})).size() == 1);
  }
  SECTION("until SIGTERM") { CHECK(only<Exit>(node.tell(Terminate{})).size() == 1); }
}

TEST_CASE("SIGTERM drains what is published, fast, and leaves living ranks behind") {
  Node node(3);
  node.write(0, "/d/a.{rank}.h5");
  const auto drained = only<DrainGroup>(node.tell(Terminate{}));
  REQUIRE(drained.size() == 1);
  CHECK(drained[0].fast);
  CHECK(only<Exit>(node.commit(drained[0])).size() == 1);
}

TEST_CASE("a rank that wrote nothing of the pattern and ended regularly passed") {
  Node node(3);
  node.tell(RankEnded{"p2"});
  node.write(0, "/d/a.{rank}.h5");
  node.write(1, "/d/a.{rank}.h5");
  const auto drained = node.of<DrainGroup>();
  REQUIRE(drained.size() == 1);
  CHECK(drained[0].passed_ranks == std::vector<std::uint32_t>{2});
}

TEST_CASE("no rank passed in a set to which another user's link may have led") {
  Node node(3);
  node.tell(RankEnded{"p2"});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PartFacts facts = node.facts(rank, {"/d/a.{rank}.h5"});
    facts.is_by_untrusted_links = rank == 1;
    node.publish(facts);
  }
  node.wait(20'000);
  REQUIRE(node.of<DrainGroup>().size() == 1);
  CHECK(node.of<DrainGroup>()[0].passed_ranks.empty());
}

TEST_CASE("a rank that wrote natively did not pass") {
  Node node(3);
  node.tell(PatternWrittenNatively{"p2", "/d/a.{rank}.h#"});
  node.tell(RankEnded{"p2"});
  node.write(0, "/d/a.{rank}.h5");
  node.write(1, "/d/a.{rank}.h5");
  const auto drained = node.of<DrainGroup>();
  REQUIRE(drained.size() == 1);
  CHECK(drained[0].passed_ranks.empty());
}

TEST_CASE("a rank that counted as passed and then writes natively leaves the set unknown") {
  Node node(3);
  for (std::uint32_t rank = 0; rank < 2; ++rank) node.write(rank, "/d/a.{rank}.h5", 0);
  for (std::uint32_t rank = 0; rank < 2; ++rank) node.begin(rank, "/d/a.{rank}.h5", 1);
  node.wait(20'000);
  const auto drained = node.of<DrainGroup>();
  REQUIRE(drained.size() == 1);
  REQUIRE(drained[0].passed_ranks == std::vector<std::uint32_t>{2});
  node.commit(drained[0]);
  node.tell(PatternWrittenNatively{"p2", "/d/a.{rank}.h#"});
  const auto notes = node.of<NoteAccount>();
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].account.drifted);
}

TEST_CASE("a rank that ended with an error did not pass") {
  Node node(3);
  node.tell(RankEnded{"p2", false});
  node.write(0, "/d/a.{rank}.h5");
  node.write(1, "/d/a.{rank}.h5");
  REQUIRE(node.of<DrainGroup>().size() == 1);
  CHECK(node.of<DrainGroup>()[0].passed_ranks.empty());
}

TEST_CASE("a rank that died did not pass") {
  Node node(3);
  node.tell(RankGone{"p2"});
  node.write(0, "/d/a.{rank}.h5");
  node.write(1, "/d/a.{rank}.h5");
  REQUIRE(node.of<DrainGroup>().size() == 1);
  CHECK(node.of<DrainGroup>()[0].passed_ranks.empty());
}

TEST_CASE("a successor of a dead leader takes nobody to have passed") {
  Node node(3);
  node.decisions.succeed();
  node.tell(RankEnded{"p2"});
  node.write(0, "/d/a.{rank}.h5");
  node.write(1, "/d/a.{rank}.h5");
  REQUIRE(node.of<DrainGroup>().size() == 1);
  CHECK(node.of<DrainGroup>()[0].passed_ranks.empty());
}

TEST_CASE("ranks of this launch say nothing about another launch's set that one of them amends") {
  Node node(1);
  PartFacts amended = node.facts(2, {"/d/a.{rank}.h5"});
  amended.launch = "other";
  amended.rank_count = 4;
  amended.presence = "p0";
  amended.is_amendment = true;
  node.publish(amended);
  node.tell(RankEnded{"p0"});
  REQUIRE(node.of<DrainGroup>().size() == 1);
  CHECK(node.of<DrainGroup>()[0].passed_ranks.empty());
  CHECK(node.of<DrainGroup>()[0].failed_ranks.empty());
}

TEST_CASE("a rank that wrote the set before and died without this one failed") {
  Node node(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) node.write(rank, "/d/a.{rank}.h5", 0);
  node.commit(node.of<DrainGroup>().at(0));
  node.now += 1000;
  node.write(0, "/d/a.{rank}.h5", 1);
  node.write(1, "/d/a.{rank}.h5", 1);
  node.tell(RankGone{"p2"});
  const auto drained = node.of<DrainGroup>();
  REQUIRE(drained.size() == 2);
  CHECK(drained[1].failed_ranks == std::vector<std::uint32_t>{2});
  CHECK(drained[1].passed_ranks.empty());
}

TEST_CASE("what becomes known of a set after its commit is noted before the leader ends, once") {
  Node node(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) node.write(rank, "/d/a.{rank}.h5", 0);
  node.commit(node.of<DrainGroup>().at(0));
  node.now += 1000;
  node.write(0, "/d/a.{rank}.h5", 1);
  node.wait(20'000);  // quiet: drained without the others
  REQUIRE(node.of<DrainGroup>().size() == 2);
  node.commit(node.of<DrainGroup>()[1]);
  CHECK(node.of<DrainGroup>()[1].failed_ranks.empty());
  for (const char* presence : {"p0", "p1", "p2"}) node.tell(RankGone{presence});
  const auto notes = node.of<NoteAccount>();
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].account.set.sequence == 1);
  CHECK(notes[0].account.failed_ranks == std::vector<std::uint32_t>{1, 2});
  CHECK(node.of<Exit>().empty());
  CHECK(only<Exit>(node.tell(AccountNoted{notes[0].account.set})).size() == 1);
  CHECK(node.of<NoteAccount>().size() == 1);
}

TEST_CASE("a late part says with its container that its set's counts prove nothing") {
  Node node(3);
  node.write(0, "/d/a.{rank}.h5", 0);
  node.write(1, "/d/a.{rank}.h5", 0);
  node.wait(20'000);
  node.commit(node.of<DrainGroup>().at(0));
  node.begin(0, "/d/a.{rank}.h5", 1);
  node.now += 1000;
  node.write(2, "/d/a.{rank}.h5", 0);
  REQUIRE(node.of<DrainGroup>().size() == 2);
  CHECK_FALSE(node.of<DrainGroup>()[0].drifted);
  CHECK(node.of<DrainGroup>()[1].drifted);
  CHECK(node.of<DrainGroup>()[1].supplement == 1);
}

TEST_CASE(
    "if a create failed in some ranks only, sets from then on prove nothing, and the name becomes "
    "native") {
  Node node(2);
  const auto write = [&](std::uint32_t rank, std::uint64_t sequence,
                         std::optional<std::uint64_t> failed) {
    PartFacts facts = node.facts(rank, {"/d/a.{rank}.h5"}, sequence);
    facts.failed_attempts = failed;
    node.publish(facts);
  };
  write(0, 0, 0);
  write(1, 0, 0);
  node.wait(20'000);
  CHECK(node.of<MarkNative>().empty());
  SECTION("the numbers differ") {
    write(1, 1, 0);
    write(1, 2, 0);  // before anything is known of rank 0
    write(0, 1, 1);
    node.wait(20'000);
    CHECK(node.of<MarkNative>().size() == 1);
    std::set<std::uint64_t> sequences;
    for (const DrainGroup& group : node.of<DrainGroup>()) {
      sequences.insert(group.set.sequence);
      CHECK(group.drifted == (group.set.sequence > 0));
      if (group.set.sequence == 1)
        CHECK(group.failed_attempts == mcr::restart::FailedAttempts{0, 1});
    }
    CHECK(sequences == std::set<std::uint64_t>{0, 1, 2});
  }
  SECTION("the numbers differ in one set and are equal in the next") {
    write(0, 1, 1);
    write(1, 1, 0);
    node.wait(20'000);
    write(0, 2, 1);
    write(1, 2, 1);
    node.wait(20'000);
    REQUIRE(node.of<DrainGroup>().size() == 3);
    CHECK(node.of<DrainGroup>()[2].set.sequence == 2);
    CHECK(node.of<DrainGroup>()[2].drifted);
  }
  SECTION("all ranks failed, or an amendment does not know") {
    write(0, 1, 1);
    write(1, 1, GENERATE(std::optional<std::uint64_t>(), 1U));
    node.wait(20'000);
    CHECK(node.of<MarkNative>().empty());
    REQUIRE(node.of<DrainGroup>().size() == 2);
    CHECK_FALSE(node.of<DrainGroup>()[1].drifted);
  }
}

TEST_CASE(
    "ranks that rewrite one name without waiting for one another make it native after three sets") {
  Node node(2);
  for (std::uint64_t n = 0; n < 4; ++n) {
    node.write(0, "/d/a.{rank}.h5", n);
    ++node.now;
    node.begin(0, "/d/a.{rank}.h5", n + 1);
    ++node.now;
    node.write(1, "/d/a.{rank}.h5", n);
    ++node.now;
  }
  CHECK(node.of<MarkNative>().size() == 1);
}

TEST_CASE("keep holds the newest sets and gives back older ones, all of them at a regular end") {
  Node node(1);
  node.keep = 1;
  node.write(0, "/d/a.h5", 0);
  const auto first = node.of<DrainGroup>().at(0);
  CHECK(first.keep);
  CHECK(only<FreeKept>(node.commit(first)).empty());
  node.write(0, "/d/a.h5", 1);
  const auto second = node.of<DrainGroup>().at(1);
  auto decided = node.commit(second);
  REQUIRE(only<FreeKept>(decided).size() == 1);
  CHECK(only<FreeKept>(decided)[0].part == first.parts[0]);
  node.tell(RankEnded{"p0"});
  decided = node.tell(RankGone{"p0"});
  REQUIRE(only<FreeKept>(decided).size() == 1);
  CHECK(only<FreeKept>(decided)[0].part == second.parts[0]);
}

TEST_CASE("keep holds the newest sets, also where an older one is committed last") {
  Node node(1);
  node.keep = 1;
  node.write(0, "/d/a.h5", 0);
  node.write(0, "/d/a.h5", 1);
  const auto drains = node.of<DrainGroup>();
  REQUIRE(drains.size() == 2);
  CHECK(only<FreeKept>(node.commit(drains[1])).empty());
  const auto decided = node.commit(drains[0]);
  REQUIRE(only<FreeKept>(decided).size() == 1);
  CHECK(only<FreeKept>(decided)[0].part == drains[0].parts[0]);
}

TEST_CASE("kept sets give way when the stage is short") {
  Node node(1);
  node.keep = 1;
  node.write(0, "/d/a.h5", 0);
  node.commit(node.of<DrainGroup>().at(0));
  CHECK(only<FreeKept>(node.tell(StageShort{})).size() == 1);
}

TEST_CASE("kept sets outlive a crash of the job") {
  Node node(1);
  node.keep = 1;
  node.write(0, "/d/a.h5", 0);
  node.commit(node.of<DrainGroup>().at(0));
  const auto decided = node.tell(RankGone{"p0"});
  CHECK(only<FreeKept>(decided).empty());
  CHECK(only<Exit>(decided).size() == 1);
}

TEST_CASE("a set that nobody waits for is drained after a moment of quiet") {
  Node node(2);
  node.decisions = Decisions();
  node.tell(RankJoined{"p0", 0});
  node.tell(RankJoined{"p1", 1});
  node.write(0, "/d/a.{rank}.h5");
  CHECK(only<DrainGroup>(node.write(1, "/d/a.{rank}.h5")).empty());
  REQUIRE(node.decisions.next_tick_ms() == node.now + 100);
  CHECK(only<DrainGroup>(node.wait(99)).empty());
  CHECK(only<DrainGroup>(node.wait(1)).size() == 1);
}

TEST_CASE("no moment of quiet for a durable part, at the end of the launch, or on SIGTERM") {
  const auto made = [](auto last) {
    Node node(2);
    node.decisions = Decisions();
    node.tell(RankJoined{"p0", 0});
    node.tell(RankJoined{"p1", 1});
    node.write(0, "/d/a.{rank}.h5");
    const PartFacts facts = node.begin(1, "/d/a.{rank}.h5");
    last(node, facts);
    return node.of<DrainGroup>().size();
  };
  CHECK(made([](Node& node, const PartFacts& facts) { node.publish(facts, true); }) == 1);
  CHECK(made([](Node& node, const PartFacts& facts) {
          node.publish(facts);
          node.tell(RankEnded{"p0"});
          node.tell(RankEnded{"p1"});
        }) == 1);
  CHECK(made([](Node& node, const PartFacts& facts) {
          node.publish(facts);
          node.tell(Terminate{});
        }) == 1);
}

TEST_CASE("a rank that ends before the others have begun waits for them, bounded") {
  Node node(3, 3);
  node.decisions = Decisions(Patience{.calm_ms = 0});
  node.tell(RankJoined{"p0", 0});
  auto facts = node.facts(0, {"/d/a.{rank}.h5"});
  facts.may_be_lone = false;
  node.publish(facts);
  CHECK(only<DrainGroup>(node.tell(RankEnded{"p0"})).empty());
  SECTION("they come: one container") {
    node.wait(1000);
    for (std::uint32_t r = 1; r < 3; ++r) {
      node.tell(RankJoined{"p" + std::to_string(r), r});
      CHECK(node.of<DrainGroup>().empty());
      node.write(r, "/d/a.{rank}.h5");
    }
    REQUIRE(node.of<DrainGroup>().size() == 1);
    CHECK(node.of<DrainGroup>()[0].ranks == std::vector<std::uint32_t>{0, 1, 2});
  }
  SECTION("they never come") {
    CHECK(only<DrainGroup>(node.wait(4999)).empty());
    CHECK(only<DrainGroup>(node.wait(1)).size() == 1);
  }
  SECTION("the one that ended is gone: what a dead launch left is drained at once") {
    CHECK(only<DrainGroup>(node.tell(RankGone{"p0"})).size() == 1);
  }
  SECTION("all others are on other nodes") {
    Node alone(3, 1);
    auto own = alone.facts(0, {"/d/a.{rank}.h5"});
    own.may_be_lone = false;
    alone.publish(own);
    CHECK(alone.of<DrainGroup>().size() == 1);
  }
}

TEST_CASE(
    "a part that another node's rank wants to write is put back, and its pattern goes native") {
  Node node(4, 2);
  const PartFacts facts = node.facts(0, {"/d/snapshot_7.{rank}"});
  node.publish(facts);
  const auto decided = node.tell(PartRequested{facts.part, true});
  REQUIRE(only<PutBack>(decided).size() == 1);
  CHECK(only<PutBack>(decided)[0].reason == PutBackReason::requested);
  REQUIRE(only<MarkNative>(decided).size() == 1);
  CHECK(only<MarkNative>(decided)[0].pattern == "/d/snapshot_#.{rank}");
  SECTION("done") {
    node.tell(PutBackDone{facts.part, PutBackEnd::done});
    CHECK(node.decisions.pending() == 0);
  }
  SECTION("not possible: then a container, at once") {
    CHECK(only<DrainGroup>(node.tell(PutBackDone{facts.part, PutBackEnd::not_possible})).size() ==
          1);
  }
}

TEST_CASE("a request for a part that is still written is kept until it is published") {
  Node node(4, 2);
  const PartFacts facts = node.begin(0, "/d/snapshot_7.{rank}.h5");
  CHECK(node.tell(PartRequested{facts.part, true}).empty());
  CHECK(only<PutBack>(node.publish(facts)).size() == 1);
}

TEST_CASE("a part that another node only waits for is drained without the others") {
  Node node(4, 4);
  const PartFacts facts = node.facts(0, {"/d/a.{part}.h5"});
  PartFacts mine = facts;
  mine.may_be_lone = false;
  node.publish(mine);
  CHECK(node.of<DrainGroup>().empty());
  CHECK(only<DrainGroup>(node.tell(PartRequested{mine.part, false})).size() == 1);
}

TEST_CASE(
    "a dead writer's part in which a living process goes on is settled when that one is gone") {
  Node node(2);
  const PartFacts facts = node.begin(0, "/d/a.{rank}.h5");
  CHECK(only<Settle>(node.tell(RankGone{"p0"})).size() == 1);
  for (int i = 0; i < 5; ++i) {
    CHECK(only<Settle>(node.tell(SettleDone{facts.part, false})).empty());
    CHECK(only<Settle>(node.wait(2000)).size() == 1);
  }
  SECTION("it publishes") {
    node.tell(SettleDone{facts.part, false});
    node.publish(facts);
    CHECK(node.decisions.pending() == 1);
  }
  SECTION("it dies: tried some more times, and then left for `mcr recover`") {
    node.tell(SettleDone{facts.part, false});
    CHECK(only<Exit>(node.tell(RankGone{"p1"})).empty());
    for (int i = 0; i < 3; ++i) {
      CHECK(node.of<Exit>().empty());
      node.wait(2000);
      node.tell(SettleDone{facts.part, false});
    }
    CHECK(node.of<Exit>().size() == 1);
  }
}

namespace {

/// A program of one process that writes a file after another.
struct Writer : Node {
  Writer() : Node(1) {}
  PartFacts file(int number, const std::string& block) {
    PartFacts it = facts(0, {"out/f" + std::to_string(number) + ".h5"});
    it.bundle_family = "out/f{n}.h5";
    it.block = block;
    return it;
  }
  std::vector<Decision> write_files(int first, int count, const std::string& block) {
    std::vector<Event> events;
    for (int i = first; i < first + count; ++i)
      events.emplace_back(PartPublished{file(i, block), now * 1'000'000, false, false});
    auto decided = decisions.on(events, now);
    all.insert(all.end(), decided.begin(), decided.end());
    return decided;
  }
};

}  // namespace

TEST_CASE("few files of one rank each get a container, at most two of them at a time") {
  Writer node;
  const auto first = only<DrainGroup>(node.write_files(0, 3, "A"));
  REQUIRE(first.size() == 2);
  CHECK(first[0].bundle.empty());
  CHECK(first[0].set.masked_name == "out/f0.h5");
  const auto third = only<DrainGroup>(node.commit(first[0]));
  REQUIRE(third.size() == 1);
  CHECK(third[0].set.masked_name == "out/f2.h5");
}

TEST_CASE("files of one rank that come faster than they are drained share a container") {
  Writer node;
  const auto alone = only<DrainGroup>(node.write_files(0, 2, "A"));
  REQUIRE(alone.size() == 2);
  CHECK(only<DrainGroup>(node.write_files(2, 20, "A")).empty());
  // More of the block may come.
  CHECK(only<DrainGroup>(node.commit(alone[0])).empty());
  const auto bundle = only<DrainGroup>(node.wait(500));
  REQUIRE(bundle.size() == 1);
  REQUIRE(bundle[0].bundle.size() == 20);
  REQUIRE(bundle[0].parts.size() == 20);
  CHECK(bundle[0].bundle[0].set == bundle[0].set);
  CHECK(bundle[0].bundle[19].set.masked_name == "out/f21.h5");
  CHECK(bundle[0].bundle[19].begun_ns == node.now * 1'000'000 - 500'000'000);
  SECTION("each of them is a committed set") {
    node.commit(bundle[0]);
    node.commit(alone[1]);
    CHECK(node.decisions.pending() == 0);
  }
  SECTION("what storage refuses is put back, each file alone") {
    node.tell(DrainDone{bundle[0].drain, {}, bundle[0].parts, true});
    CHECK(node.of<PutBack>().size() == 20);
    for (const PartId& part : bundle[0].parts)
      node.tell(PutBackDone{part, PutBackEnd::not_possible});
    node.commit(alone[1]);
    node.tell(RankEnded{"p0", true});
    CHECK(node.of<DrainGroup>().back().bundle.empty());
  }
}

TEST_CASE("a block of which all files are there is not waited for, and blocks do not mix") {
  Writer node;
  const auto alone = only<DrainGroup>(node.write_files(0, 10, "B"));
  REQUIRE(alone.size() == 2);
  CHECK(only<DrainGroup>(node.write_files(12, PartId::block_parts, "C")).empty());
  const auto bundle = only<DrainGroup>(node.commit(alone[0]));
  REQUIRE(bundle.size() == 1);
  CHECK(bundle[0].parts.size() == PartId::block_parts);
  CHECK(bundle[0].bundle[0].set.masked_name == "out/f12.h5");
}

TEST_CASE("large files, and those that somebody waits for, get containers of their own at once") {
  Writer node;
  node.write_files(0, 40, "A");
  node.tell(PartPublished{node.file(50, "A"), node.now * 1'000'000, true, false});
  node.tell(PartPublished{node.file(51, "A"), node.now * 1'000'000, false, false, 1 << 20});
  const auto groups = node.of<DrainGroup>();
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].set.masked_name == "out/f50.h5");
  CHECK(groups[1].set.masked_name == "out/f51.h5");
}
