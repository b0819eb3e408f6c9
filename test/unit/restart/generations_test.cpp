// SPDX-License-Identifier: BSD-3-Clause
// What counts prove about a set, and which generation a restart sees.
#include "restart/sets/generations.hpp"

#include <random>

#include "test/support/catch.hpp"

using namespace mcr::restart;
using Kind = AtName::Kind;
using Answer = Choice::Kind;

namespace {

std::string path_of(std::uint32_t rank) { return "a." + std::to_string(rank) + ".h5"; }

Generation generation(const std::string& launch, std::uint64_t sequence, std::uint64_t order,
                      const std::set<std::uint32_t>& wrote, std::uint32_t ranks = 4) {
  Generation made;
  made.name = {launch, sequence};
  made.order_ns = order;
  made.account.rank_count = ranks;
  made.account.wrote = wrote;
  for (const std::uint32_t rank : wrote) {
    made.members[path_of(rank)] = {{}, rank, path_of(rank), order, {}};
  }
  return made;
}

Generation whole(const std::string& launch, std::uint64_t sequence, std::uint64_t order) {
  return generation(launch, sequence, order, {0, 1, 2, 3});
}

AtName shows(const Generation& it, bool available = true) {
  return {Kind::stub, it.name, available};
}

/// A question of rank 0; `present` is what lies at the ranks' names.
Question question(std::vector<Generation> generations, const std::vector<AtName>& present) {
  Question asked;
  asked.own = present.front().generation;
  asked.path = path_of(0);
  for (std::uint32_t rank = 0; rank < present.size(); ++rank) asked.present[rank] = present[rank];
  asked.generations = std::move(generations);
  return asked;
}

}  // namespace

TEST_CASE("a set is whole when every rank wrote or passed") {
  CHECK(wholeness({4, {0, 1, 2, 3}, {}, {}, false}) == Wholeness::whole);
  CHECK(wholeness({4, {0, 1, 3}, {2}, {}, false}) == Wholeness::whole);
}

TEST_CASE("a rank of which nothing is known leaves the set unknown") {
  CHECK(wholeness({4, {0, 1, 3}, {}, {}, false}) == Wholeness::unknown);
  CHECK(wholeness({4, {0, 1, 3}, {1}, {}, false}) == Wholeness::unknown);
}

TEST_CASE("ranks that the launch does not have do not count") {
  CHECK(wholeness({2, {0, 7}, {9}, {}, false}) == Wholeness::unknown);
  CHECK(wholeness({2, {0, 1}, {}, {7}, false}) == Wholeness::whole);
}

TEST_CASE("a failed rank makes the set incomplete, unless its part came later") {
  CHECK(wholeness({2, {0}, {}, {1}, false}) == Wholeness::incomplete);
  CHECK(wholeness({2, {0, 1}, {}, {1}, false}) == Wholeness::whole);
}

TEST_CASE("a set of one file is whole when the file is written, whatever other ranks did") {
  CHECK(wholeness({4, {2}, {}, {0}, true, true}) == Wholeness::whole);
  CHECK(wholeness({4, {}, {}, {0}, false, true}) == Wholeness::unknown);
}

TEST_CASE("a drifted set is unknown, whatever the counts are") {
  CHECK(wholeness({2, {0, 1}, {}, {}, true}) == Wholeness::unknown);
  CHECK(wholeness({2, {0}, {}, {1}, true}) == Wholeness::unknown);
}

TEST_CASE(
    "a copied set to which no file at the names belongs is given only if no other set is whole") {
  const Generation old = whole("a", 0, 1);
  Generation copied = whole("copied", 0, 2);
  copied.is_copied = copied.is_of_copies = true;
  Generation newest = generation("b", 0, 3, {0, 1});
  newest.account.failed = {2, 3};
  std::vector present = {shows(newest), shows(newest), AtName{}, AtName{}};
  Choice choice = choose_generation(question({old, copied, newest}, present));
  CHECK((choice.kind == Answer::previous && choice.given == old.name));

  SECTION("a file of it at a number that the others do not have shows nothing") {
    present.push_back(shows(copied));
    choice = choose_generation(question({old, copied, newest}, present));
    CHECK(choice.given == old.name);
  }
  SECTION(
      "with a file of it at one of the names, also of a rank that no other has a part of, it "
      "counts") {
    present[3] = shows(copied);
    choice = choose_generation(question({old, copied, newest}, present));
    CHECK(choice.given == copied.name);
    choice = choose_generation(question({copied, newest}, present));
    CHECK(choice.given == copied.name);
  }
  SECTION("it is given if no other set is whole") {
    choice = choose_generation(question({copied, newest}, present));
    CHECK(choice.given == copied.name);
  }
  SECTION("it counts if all are copies") {
    Generation first = old;
    Generation last = newest;
    first.is_copied = last.is_copied = true;
    first.is_of_copies = last.is_of_copies = true;
    choice = choose_generation(question({first, copied, last}, present));
    CHECK(choice.given == copied.name);
  }
  SECTION("a set that came with the directory also needs a file, if another set has one") {
    Generation first = old;
    first.is_of_copies = true;
    copied.is_copied = false;
    present[3] = shows(first);
    choice = choose_generation(question({first, copied, newest}, present));
    CHECK(choice.given == first.name);
  }
}

TEST_CASE("a copy that names a launch does not change the order of the launch's own sets") {
  const Generation old = whole("a", 1, 5);
  const Generation between = whole("c", 0, 7);
  Generation newest = generation("b", 0, 10, {0, 1});
  newest.account.failed = {2, 3};
  Generation copied = generation("a", 0, 9, {3});
  copied.is_copied = true;
  const std::vector present = {shows(newest), shows(newest), AtName{}, shows(copied)};
  const Choice choice = choose_generation(question({old, between, copied, newest}, present));
  CHECK((choice.kind == Answer::previous && choice.given == between.name));
}

TEST_CASE("a set that all names show is given as it is") {
  const auto old = whole("A", 0, 10);
  const auto now = whole("A", 1, 20);
  const auto choice =
      choose_generation(question({old, now}, {shows(now), shows(now), shows(now), shows(now)}));
  CHECK(choice.kind == Answer::as_it_is);
  CHECK(choice.given == now.name);
}

TEST_CASE("if half of the names show the newest set, every rank gets the whole set before it") {
  const auto old = whole("A", 0, 10);
  const auto half = generation("A", 1, 20, {0, 1});
  for (const bool from_old_side : {false, true}) {
    auto asked = question({half, old}, {shows(half), shows(half), shows(old), shows(old)});
    if (from_old_side) {
      asked.own = old.name;
      asked.number = 3;
      asked.path = path_of(3);
    }
    const auto choice = choose_generation(asked);
    CHECK(choice.kind == Answer::previous);
    CHECK(choice.given == old.name);
    CHECK(choice.newest == half.name);
    CHECK(choice.missing == 2);
  }
}

TEST_CASE("no older set is given while a rank has a native file that it opens as it is") {
  const auto old = whole("A", 0, 10);
  const auto half = generation("A", 1, 20, {0, 1});
  AtName bare;
  bare.kind = Kind::native_file;
  const auto choice =
      choose_generation(question({half, old}, {shows(half), shows(half), shows(old), bare}));
  CHECK(choice.kind == Answer::no_whole);
  CHECK(choice.given == half.name);
}

TEST_CASE("a native file that was there before the set was begun is no file of the set") {
  constexpr std::uint64_t s = 1'000'000'000;
  const auto newest = whole("A", 0, 40 * s);
  AtName bare;
  bare.kind = Kind::native_file;
  const auto chosen_with = [&](std::uint64_t modified_ns) {
    bare.modified_ns = modified_ns;
    return choose_generation(
        question({newest}, {shows(newest), shows(newest), shows(newest), bare}));
  };
  CHECK(chosen_with(10 * s).kind == Answer::no_whole);
  CHECK(chosen_with(10 * s).missing == 1);
  CHECK(chosen_with(35 * s).kind == Answer::as_it_is);  // clocks differ
  CHECK(chosen_with(45 * s).kind == Answer::as_it_is);  // amended since
  CHECK(chosen_with(0).kind == Answer::as_it_is);       // its time is not known
}

TEST_CASE("of three generations the newest whole one is given, whatever the names show") {
  const auto first = whole("A", 0, 10);
  const auto second = generation("B", 0, 20, {2, 3});
  const auto third = generation("C", 0, 30, {0, 1});
  const auto choice = choose_generation(
      question({first, second, third}, {shows(third), shows(third), shows(second), shows(second)}));
  CHECK(choice.kind == Answer::previous);
  CHECK(choice.given == first.name);
}

TEST_CASE("a part that is lost makes its set incomplete") {
  const auto old = whole("A", 0, 10);
  const auto lost = generation("A", 1, 20, {0, 1, 2});
  const auto choice = choose_generation(
      question({old, lost}, {shows(lost), shows(lost), shows(lost), shows(lost, false)}));
  CHECK(choice.kind == Answer::previous);
  CHECK(choice.given == old.name);
}

TEST_CASE(
    "a rank that never wrote anything leaves the set unknown, and the set is given as it is") {
  const auto only = generation("A", 0, 10, {0, 1, 2});
  const auto choice =
      choose_generation(question({only}, {shows(only), shows(only), shows(only), AtName{}}));
  CHECK(choice.kind == Answer::unknown);
  CHECK(choice.given == only.name);
}

TEST_CASE("a rank that passed keeps its older file") {
  const auto old = whole("A", 0, 10);
  auto now = generation("B", 0, 20, {0, 1, 2});
  now.account.passed = {3};
  const auto choice =
      choose_generation(question({old, now}, {shows(now), shows(now), shows(now), shows(old)}));
  CHECK(choice.kind == Answer::as_it_is);
}

TEST_CASE("if ranks drifted, or may still write, the names prove nothing") {
  const auto old = whole("A", 0, 10);
  auto half = generation("A", 1, 20, {0, 1});
  const std::vector<AtName> present = {shows(half), shows(half), shows(old), shows(old)};
  auto asked = question({old, half}, present);
  asked.stages.living = {"A"};
  CHECK(choose_generation(asked).kind == Answer::unknown);
  half.account.drifted = true;
  CHECK(choose_generation(question({old, half}, present)).kind == Answer::unknown);
}

TEST_CASE(
    "once attempts have failed in some ranks of a name only, its later writings prove nothing") {
  Account before = whole("A", 0, 10).account;
  Account differing = whole("A", 1, 20).account;
  Account later = whole("A", 2, 30).account;
  Account of_other_name = whole("A", 3, 40).account;
  Account of_other_launch = whole("B", 0, 50).account;
  differing.failed_attempts = FailedAttempts{0, 1};
  later.failed_attempts = FailedAttempts{1, 1};
  mark_after_failed_attempts({{{"A", 0}, &before},
                              {{"A", 1}, &differing},
                              {{"A", 2}, &later},
                              {{"A", 3, "/b"}, &of_other_name},
                              {{"B", 0}, &of_other_launch}});
  CHECK(wholeness(before) == Wholeness::whole);
  CHECK(wholeness(differing) == Wholeness::unknown);
  CHECK(wholeness(later) == Wholeness::unknown);
  CHECK(wholeness(of_other_name) == Wholeness::whole);
  CHECK(wholeness(of_other_launch) == Wholeness::whole);
}

TEST_CASE("a drifted set that all names show is given as it is, but may mix steps") {
  auto now = whole("A", 1, 20);
  SECTION("the leader saw it") { now.account.drifted = true; }
  SECTION("two nodes counted different numbers of failed attempts") {
    now.account.failed_attempts = FailedAttempts{0, 1};
    now.account.drifted = wholeness(now.account) != Wholeness::whole;
  }
  auto asked = question({whole("A", 0, 10), now}, {shows(now), shows(now), shows(now), shows(now)});
  asked.stages.drains = true;
  const auto choice = choose_generation(asked);
  CHECK(choice.kind == Answer::unknown);
  CHECK(choice.given == now.name);
  CHECK_FALSE(choice.may_change);
}

TEST_CASE("two nodes' containers that know of different numbers of failed attempts differ") {
  std::optional<FailedAttempts> known;
  add_attempts(known, {});
  CHECK_FALSE(known);
  add_attempts(known, FailedAttempts{1, 1});
  add_attempts(known, {});  // an amendment
  CHECK_FALSE(known->differ());
  add_attempts(known, FailedAttempts{0, 0});
  CHECK(known == FailedAttempts{0, 1});
  CHECK(known->differ());
}

TEST_CASE("parts that still drain here may change any choice but a whole set") {
  const auto old = whole("A", 0, 10);
  const auto half = generation("A", 1, 20, {0, 1});
  auto asked = question({old, half}, {shows(half), shows(half), shows(old), shows(old)});
  CHECK_FALSE(choose_generation(asked).may_change);
  asked.stages.drains = true;
  CHECK(choose_generation(asked).kind == Answer::previous);
  CHECK(choose_generation(asked).may_change);
  asked.stages.living = {"A"};  // its ranks may still write: no decision is made
  CHECK_FALSE(choose_generation(asked).may_change);
  auto of_old = question({old}, {shows(old), shows(old), shows(old), shows(old)});
  of_old.stages.drains = true;
  CHECK_FALSE(choose_generation(of_old).may_change);
}

TEST_CASE(
    "a part on another node may change the choice, unless no set lies between given and newest") {
  const auto old = whole("A", 0, 10);
  const auto next = generation("A", 1, 20, {0, 1});
  const auto later = generation("A", 2, 30, {0, 1});
  for (const bool lies_between : {false, true}) {
    const auto& newest = lies_between ? later : next;
    auto asked = question({old, newest}, {shows(newest), shows(newest), shows(old), shows(old)});
    CHECK(choose_generation(asked).given == old.name);
    CHECK_FALSE(choose_generation(asked).may_change);
    asked.stages.lost = true;
    CHECK(choose_generation(asked).may_change == lies_between);
  }
  // All names show `next`. The lost part makes it incomplete only until another node commits that
  // part.
  auto asked = question({old, next}, {shows(next), shows(next), shows(next), shows(next, false)});
  asked.stages.lost = true;
  CHECK(choose_generation(asked).kind == Answer::previous);
  CHECK(choose_generation(asked).may_change);
}

TEST_CASE("an incomplete set without a whole set before it is given as it is, and reported") {
  const auto old = generation("A", 0, 10, {2, 3});
  const auto half = generation("A", 1, 20, {0, 1});
  const auto choice =
      choose_generation(question({old, half}, {shows(half), shows(half), shows(old), shows(old)}));
  CHECK(choice.kind == Answer::no_whole);
  CHECK(choice.given == half.name);
}

TEST_CASE("an earlier set with fewer names, or a damaged one, is not given") {
  auto fewer = generation("A", 0, 10, {0, 1}, 2);
  fewer.account.rank_count = 2;
  const auto half = generation("B", 0, 20, {0, 1, 2});
  const std::vector<AtName> present = {shows(half), shows(half), shows(half, false), shows(fewer)};
  CHECK(choose_generation(question({fewer, half}, present)).kind == Answer::no_whole);
  auto damaged = whole("A", 0, 10);
  damaged.damaged = true;
  CHECK(choose_generation(question({damaged, half}, present)).kind == Answer::no_whole);
}

TEST_CASE("a whole set at one of whose names an older file lies is passed over, and named") {
  const auto old = whole("A", 0, 10);
  const auto last = whole("A", 1, 20);
  const auto half = generation("B", 0, 30, {0, 1});
  const std::vector<AtName> present = {shows(half), shows(half), shows(last), shows(old)};
  auto choice = choose_generation(question({old, last, half}, present));
  CHECK(choice.kind == Answer::previous);
  CHECK(choice.given == old.name);
  REQUIRE(choice.passed_over);
  CHECK(choice.passed_over->name == last.name);
  CHECK(choice.passed_over->older_file == 3);

  SECTION("no earlier set is whole") {
    const auto few = generation("A", 0, 10, {3});
    choice = choose_generation(
        question({few, last, half}, {shows(half), shows(half), shows(last), shows(few)}));
    CHECK(choice.kind == Answer::no_whole);
    REQUIRE(choice.passed_over);
    CHECK(choice.passed_over->name == last.name);
  }
  SECTION("the set before the newest is given") {
    choice = choose_generation(
        question({old, last, half}, {shows(half), shows(half), shows(last), shows(last)}));
    CHECK(choice.given == last.name);
    CHECK_FALSE(choice.passed_over);
  }
  SECTION("a copied set in between") {
    auto copied = last;
    copied.is_copied = copied.is_of_copies = true;
    choice = choose_generation(
        question({old, copied, half}, {shows(half), shows(half), shows(old), shows(old)}));
    CHECK(choice.given == old.name);
    CHECK_FALSE(choice.passed_over);
  }
  SECTION("renamed files may only lack their rename") {
    auto asked = question({old, last, half}, present);
    asked.renamed = true;
    CHECK_FALSE(choose_generation(asked).passed_over);
  }
}

TEST_CASE("if only some files were renamed over older ones, the older set is given") {
  const auto old = whole("A", 0, 10);
  const auto now = whole("A", 1, 20);
  auto asked = question({old, now}, {shows(now), shows(now), shows(old), shows(old)});
  asked.renamed = true;
  const auto choice = choose_generation(asked);
  CHECK(choice.kind == Answer::previous);
  CHECK(choice.given == old.name);
}

TEST_CASE("if only some files were renamed to new names, no older set is given") {
  const auto old = whole("A", 0, 10);  // lies under other names
  const auto now = whole("A", 1, 20);
  auto asked = question({old, now}, {shows(now), shows(now), AtName{}, AtName{}});
  asked.renamed = true;
  const auto choice = choose_generation(asked);
  CHECK(choice.kind == Answer::unknown);
  CHECK(choice.given == now.name);
}

TEST_CASE(
    "a set of one file is no earlier set of several ranks, whatever names the files were given") {
  auto one = generation("A", 0, 10, {0});
  one.account.is_of_one_file = true;
  const auto now = generation("A", 1, 20, {0, 1});
  auto asked = question({one, now}, {shows(now), shows(one)});
  asked.renamed = true;
  CHECK(choose_generation(asked).kind == Answer::no_whole);
}

TEST_CASE("if each step was written under a name of its own, the names tell the steps apart") {
  auto old = whole("A", 0, 10);
  auto now = whole("A", 0, 20);
  old.name.masked_name = "/tmp0004.{rank}";
  now.name.masked_name = "/tmp0003.{rank}";  // the time counts, not the name
  auto asked = question({old, now}, {shows(now), shows(old), shows(old), shows(old)});
  asked.renamed = true;
  for (const std::uint32_t rank : {0U, 3U}) {
    asked.number = rank;
    asked.own = asked.present[rank].generation;
    const auto choice = choose_generation(asked);
    CHECK(choice.kind == Answer::previous);
    CHECK(choice.newest == now.name);
    CHECK(choice.given == old.name);
    CHECK(choice.missing == 3);
  }
}

TEST_CASE("if two names were used in turn, the later step is newer, whatever its sequence") {
  auto first = whole("A", 0, 10);  // a
  auto second = whole("A", 0, 20);
  auto third = whole("A", 1, 30);  // a
  first.name.masked_name = third.name.masked_name = "/a.{rank}";
  second.name.masked_name = "/b.{rank}";
  auto fourth = generation("A", 1, 40, {0, 1, 2});
  fourth.name.masked_name = "/b.{rank}";
  auto asked = question({first, second, third, fourth},
                        {shows(third), shows(second), shows(second), shows(second)});
  asked.renamed = true;
  CHECK(choose_generation(asked).given == second.name);
  asked = question({first, second, third, fourth},
                   {shows(fourth), shows(third), shows(third), shows(third)});
  asked.renamed = true;
  CHECK(choose_generation(asked).given == third.name);
}

TEST_CASE("the stage's journals order writings of one launch that no container has") {
  const auto staged = [](const std::string& masked_name, std::uint64_t begun) {
    auto made = whole("A", 0, Generation::not_committed);
    made.name.masked_name = masked_name;
    made.has_own_date = true;
    made.staged_order_ns = begun;
    return made;
  };
  const auto gives = [](const Generation& older, const Generation& newer) {
    auto asked = question({older, newer}, {shows(newer), shows(older), shows(older), shows(older)});
    asked.renamed = true;
    const auto choice = choose_generation(asked);
    CHECK(choice.newest == newer.name);
    CHECK(choice.given == older.name);
  };
  gives(staged("/b", 10), staged("/a", 20));
  gives(staged("/a", 10), staged("/b", 20));
  // One of them is committed.
  auto committed = staged("/a", 0);
  committed.order_ns = 15;
  gives(staged("/b", 10), committed);
  gives(committed, staged("/b", 20));
}

TEST_CASE("a lost part may change the choice if a set that a stub shows lies between") {
  auto old = whole("A", 0, 10);
  auto between = generation("A", 0, 20, {0, 1, 2});
  auto newest = whole("A", 0, 30);
  old.name.masked_name = "/1.{rank}";
  between.name.masked_name = "/2.{rank}";
  newest.name.masked_name = "/3.{rank}";
  for (const bool lies_between : {false, true}) {
    auto asked = question({old, newest}, {shows(newest), shows(old), shows(old), shows(old)});
    if (lies_between) {
      asked.generations.push_back(between);
      asked.present[2] = shows(between);
    }
    asked.renamed = true;
    asked.stages.lost = true;
    CHECK(choose_generation(asked).given == old.name);
    CHECK(choose_generation(asked).may_change == lies_between);
  }
}

TEST_CASE("the sequence orders writings of one name in one launch; else the time does") {
  std::uint64_t first = 99, second = 10, other = 20, renamed = 5;
  follow_sequences(
      {{{"A", 0}, &first}, {{"A", 1}, &second}, {{"A", 2, "/b"}, &renamed}, {{"B", 5}, &other}});
  CHECK(first == 99);
  CHECK(second == 99);
  CHECK(other == 20);
  CHECK(renamed == 5);
}

TEST_CASE(
    "if a launch's clock went back, its newest writing is given, and the order has no cycle") {
  const auto old = whole("A", 0, 50);
  const auto now = whole("A", 1, 30);
  const auto other = whole("B", 0, 40);
  const auto torn = generation("B", 1, 60, {0});
  // The containers of the set at the other names are gone.
  const auto gone = whole("C", 0, 10);
  // B-0 is older than A-0 by its time, but A-1 is newer than A-0 by its sequence.
  const auto choice = choose_generation(
      question({torn, old, other, now}, {shows(torn), shows(gone), shows(gone), shows(gone)}));
  CHECK(choice.kind == Answer::previous);
  CHECK(choice.given == now.name);
}

TEST_CASE(
    "a set that a user replaced by an older one is not given, however its files are numbered") {
  for (const bool by_part : {false, true}) {
    const auto restored = whole("A", 0, 10);
    const auto replaced = whole("B", 0, 20);
    const auto torn = generation("C", 0, 30, {0});
    auto asked = question({torn, replaced, restored},
                          {shows(torn), shows(restored), shows(restored), shows(restored)});
    asked.by_part = by_part;
    CHECK(choose_generation(asked).kind == Answer::previous);
    CHECK(choose_generation(asked).given == restored.name);
    if (by_part) continue;
    auto renamed = asked;  // the stubs of the older set may only lack their renames
    renamed.present[3] = shows(replaced);
    renamed.renamed = true;
    CHECK(choose_generation(renamed).given == replaced.name);
    // A stub that another user may have put there takes no set back.
    for (const FileNumber number : {1, 2, 3}) asked.present[number].may_be_planted = true;
    CHECK(choose_generation(asked).given == replaced.name);
  }
}

TEST_CASE(
    "a writing without a committed part is older than a later committed writing of its launch") {
  std::uint64_t staged = Generation::not_committed, committed = 10, other = 20;
  follow_sequences({{{"A", 3}, &staged}, {{"A", 4}, &committed}, {{"B", 0}, &other}});
  CHECK(staged == 10);
  std::uint64_t last = Generation::not_committed;
  follow_sequences({{{"A", 4}, &committed}, {{"A", 5}, &last}});
  CHECK(last == Generation::not_committed);
}

TEST_CASE("a huge number of ranks costs no time") {
  constexpr std::uint32_t many = 4'000'000'000;
  CHECK(wholeness({many, {0, 7}, {3}, {}, false}) == Wholeness::unknown);
  CHECK(wholeness({many, {0, 7}, {3}, {5}, false}) == Wholeness::incomplete);
  const Generation hostile = generation("a", 0, 10, {0}, many);
  const Choice choice = choose_generation(question({hostile}, {shows(hostile)}));
  CHECK(choice.kind == Answer::unknown);
  CHECK(choice.missing == many - 1);
}
