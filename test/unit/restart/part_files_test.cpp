// SPDX-License-Identifier: BSD-3-Clause
// Sets whose files a {part} tells apart: which files are found, and which generation a restart sees.
#include "restart/sets/part_files.hpp"

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "restart/format/masked_name.hpp"
#include "restart/sets/generations.hpp"
#include "restart/sets/present_mask.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr::restart;
using Answer = Choice::Kind;

namespace {

constexpr const char* mask = "/out/ck.{part}.h5";

std::string name_of_part(std::uint64_t part) { return "ck." + std::to_string(part) + ".h5"; }

/// `files`: by part, the rank that wrote it.
Generation generation(const std::string& launch, std::uint64_t sequence, std::uint64_t order,
                      const std::vector<std::pair<std::uint64_t, std::uint32_t>>& files) {
  Generation made;
  made.name = {launch, sequence, mask};
  made.order_ns = order;
  made.account.rank_count = 4;
  for (const auto& [part, rank] : files) {
    made.account.wrote.insert(rank);
    made.members[name_of_part(part)] = {{}, rank, name_of_part(part), order, {}};
  }
  return made;
}

Generation of_all_ranks(const std::string& launch, std::uint64_t sequence, std::uint64_t order) {
  return generation(launch, sequence, order, {{0, 0}, {1, 1}, {2, 2}, {3, 3}});
}

AtName shows(const Generation& it, std::uint32_t rank, bool available = true) {
  return {AtName::Kind::stub, it.name, available, 0, rank};
}

Choice choose(std::vector<Generation> generations, std::map<FileNumber, AtName> present,
              bool renamed = false) {
  Question asked;
  asked.number = present.begin()->first;
  asked.own = present.begin()->second.generation;
  asked.path = name_of_part(asked.number);
  asked.by_part = true;
  asked.renamed = renamed;
  asked.present = std::move(present);
  asked.generations = std::move(generations);
  return choose_generation(asked);
}

}  // namespace

TEST_CASE("the files of all numbers are found, and no others") {
  const ScratchDirectory scratch;
  const std::string& directory = scratch.path();
  for (const char* name : {"ck.0.h5", "ck.17.h5", "ck.017.h5", "ck.x.h5", "ck.3.h5.old"})
    std::ofstream(directory + "/" + name) << "x";
  const auto found = part_files(directory + "/ck.{part}.h5");
  REQUIRE(found);
  CHECK(*found == PartFiles{{0, {directory + "/ck.0.h5"}},
                            {17, {directory + "/ck.017.h5", directory + "/ck.17.h5"}}});
  const auto nowhere = part_files(directory + "/nowhere/ck.{part}.h5");
  CHECK((nowhere && nowhere->empty()));
}

TEST_CASE("one {part} and no other word tells files apart") {
  CHECK(is_numbered_by_part("/x/ck.{part}.h5"));
  CHECK_FALSE(is_numbered_by_part("/x/ck.{rank}.h5"));
  CHECK_FALSE(is_numbered_by_part("/x{part}/ck.{part}.h5"));
  CHECK_FALSE(is_numbered_by_part("/x{rank}/ck.{part}.h5"));
}

TEST_CASE("a renamed file keeps its number") {
  CHECK(renamed_part_mask("/out/ck.7.h5", "tmp_2.7.h5", "tmp_2.{part}.h5") == "/out/ck.{part}.h5");
  CHECK(renamed_part_mask("/out/ck_7.7.h5", "tmp_2.7.h5", "tmp_2.{part}.h5") ==
        "/out/ck_7.{part}.h5");
  CHECK(renamed_part_mask("/out/ck.8.h5", "tmp.7.h5", "tmp.{part}.h5").empty());
}

TEST_CASE("ranks died before they wrote their files: the whole set before is given") {
  const auto old = of_all_ranks("A", 0, 10);
  const auto now = generation("A", 1, 20, {{0, 0}, {1, 1}});
  const auto choice = choose(
      {old, now}, {{0, shows(now, 0)}, {1, shows(now, 1)}, {2, shows(old, 2)}, {3, shows(old, 3)}});
  CHECK(choice.kind == Answer::previous);
  CHECK(choice.given == old.name);
  CHECK(choice.missing == 2);
}

TEST_CASE("a whole set is given, whatever files of ranks that passed are left over") {
  const auto old = of_all_ranks("A", 0, 10);
  auto now = generation("B", 0, 20, {{0, 0}, {1, 1}});
  now.account.passed = {2, 3};
  const auto choice = choose(
      {old, now}, {{0, shows(now, 0)}, {1, shows(now, 1)}, {2, shows(old, 2)}, {3, shows(old, 3)}});
  CHECK(choice.kind == Answer::as_it_is);
}

TEST_CASE("files that the launch's set before had left over say nothing") {
  const auto old = of_all_ranks("A", 0, 10);
  const auto first = generation("B", 0, 20, {{0, 0}, {1, 1}});
  const auto second = generation("B", 1, 30, {{0, 0}, {1, 1}});
  const auto left = shows(old, 2);
  CHECK(choose({old, first, second}, {{0, shows(second, 0)}, {1, shows(second, 1)}, {2, left}})
            .kind == Answer::as_it_is);
  // One of them was not rewritten in the second step.
  const auto half = generation("B", 1, 30, {{0, 0}});
  const auto choice =
      choose({old, first, half}, {{0, shows(half, 0)}, {1, shows(first, 1)}, {2, left}});
  CHECK(choice.kind == Answer::previous);
  CHECK(choice.given == old.name);  // nobody knows whether `first` is whole
}

TEST_CASE("a rank that wrote one file may have had another to write: the set is unknown") {
  const auto old = generation("A", 0, 10, {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {10, 0}});
  const auto now = of_all_ranks("A", 1, 20);
  const auto choice = choose({old, now}, {{0, shows(now, 0)}, {10, shows(old, 0)}});
  CHECK(choice.kind == Answer::unknown);
  CHECK(choice.missing == 1);
}

TEST_CASE("all files of a set were written, and some were not renamed: the set before is given") {
  auto old = of_all_ranks("A", 0, 10);
  auto now = of_all_ranks("A", 1, 20);
  for (Generation* const it : {&old, &now}) {  // written as tmp.N.h5
    it->name.masked_name = "/out/tmp.{part}.h5";
    std::map<std::string, Member> members;
    for (auto [path, member] : it->members) {
      member.path = "tmp" + path.substr(2);
      members[member.path] = member;
    }
    it->members = std::move(members);
  }
  const auto choice = choose({old, now}, {{0, shows(now, 0)}, {1, shows(old, 1)}}, true);
  CHECK(choice.kind == Answer::previous);
  CHECK(choice.given == old.name);
}

TEST_CASE("a part that no stage and no container has makes the set incomplete") {
  const auto old = of_all_ranks("A", 0, 10);
  const auto now = generation("A", 1, 20, {{0, 0}, {1, 1}, {2, 2}});
  const auto choice = choose({old, now}, {{0, shows(now, 0)}, {3, shows(now, 3, false)}});
  CHECK(choice.kind == Answer::previous);
}

TEST_CASE("a native file without a note counts only where the set has a file") {
  const auto old = of_all_ranks("A", 0, 10);
  const auto now = generation("A", 1, 20'000'000'000'000, {{0, 0}, {1, 1}, {2, 2}, {3, 3}});
  AtName native;
  native.kind = AtName::Kind::native_file;
  native.modified_ns = 1;
  const std::map<FileNumber, AtName> files = {
      {0, shows(now, 0)}, {1, shows(now, 1)}, {2, shows(now, 2)}, {3, shows(now, 3)}};
  auto with_another = files;
  with_another[99] = native;
  CHECK(choose({old, now}, with_another).kind == Answer::as_it_is);
  auto replaced = files;
  replaced[3] = native;
  CHECK(choose({old, now}, replaced).missing == 1);
}

TEST_CASE(
    "a file that a neighbour may have moved there decides nothing, unless it has the number of a "
    "file of the set") {
  const auto old = of_all_ranks("A", 0, 10);
  const auto now = of_all_ranks("A", 1, 20);
  auto other = generation("B", 0, 30, {{7, 0}});
  other.account.rank_count = 1;
  AtName planted = shows(other, 0);
  planted.may_be_planted = true;
  const auto whole = choose({old, now, other}, {{0, shows(now, 0)}, {7, planted}});
  CHECK(whole.kind == Answer::as_it_is);
  CHECK(whole.newest == now.name);
  CHECK(choose({old, now, other}, {{0, shows(now, 0)}, {3, planted}}).missing == 1);
}

TEST_CASE("a file that cannot be read leaves the set unknown") {
  const auto now = of_all_ranks("A", 1, 20);
  AtName damaged;
  damaged.kind = AtName::Kind::unreadable;
  CHECK(choose({now}, {{0, shows(now, 0)}, {3, damaged}}).kind == Answer::unknown);
}

TEST_CASE("no file speaks against the newest set: it is given without a warning") {
  const auto old = of_all_ranks("A", 0, 10);
  const auto now = generation("A", 1, 20, {{0, 0}, {2, 2}});  // ranks 1 and 3 never write
  CHECK(choose({old, now}, {{0, shows(now, 0)}, {2, shows(now, 2)}}).kind == Answer::as_it_is);
}
