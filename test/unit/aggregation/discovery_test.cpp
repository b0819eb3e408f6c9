// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/discovery.hpp"

#include <sys/stat.h>

#include "aggregation/leader/part_facts.hpp"
#include "test/unit/aggregation/staged_job.hpp"

using namespace mcr;
using namespace mcr::aggregation;
using State = restart::LaunchDirectory::State;

namespace {

template <typename T>
std::vector<T> only(const Result<std::vector<Event>>& events) {
  REQUIRE(events);
  std::vector<T> found;
  for (const Event& event : *events) {
    if (const T* it = std::get_if<T>(&event)) found.push_back(*it);
  }
  return found;
}

}  // namespace

TEST_CASE("processes are seen to join, to end and to go") {
  StagedJob job(2);
  Discovery discovery(job.directory());
  job.join(0);
  job.join(1);
  CHECK(only<RankJoined>(discovery.scan()).size() == 2);
  CHECK(discovery.scan()->empty());
  job.end(0);
  auto ended = only<RankEnded>(discovery.scan());
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].regular);
  job.end(1, 1);
  ended = only<RankEnded>(discovery.scan());
  REQUIRE(ended.size() == 1);
  CHECK_FALSE(ended[0].regular);
  job.leave(1);
  CHECK(only<RankGone>(discovery.scan()).size() == 1);
}

TEST_CASE("a part is seen to begin, to be published, to be taken back and to go") {
  StagedJob job(2);
  Discovery discovery(job.directory());
  job.join(0);
  auto begun = job.begin(0, "a.0.h5", "bytes");
  const auto seen = only<PartBegun>(discovery.scan());
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].facts.rank_count == 2);
  REQUIRE(!seen[0].facts.names.empty());
  CHECK(seen[0].facts.names[0].masked_name == job.out("a.{rank}.h5"));
  CHECK(seen[0].facts.may_be_lone);
  job.publish(begun);
  CHECK(only<PartPublished>(discovery.scan()).size() == 1);
  {
    const auto taken = job.directory().withdraw(begun.begin.part);
    REQUIRE(taken);
    REQUIRE(taken->has_value());
    CHECK(only<PartWithdrawn>(discovery.scan()).size() == 1);
  }
  REQUIRE(job.directory().drop(begun.begin.part));
  CHECK(only<PartDropped>(discovery.scan()).size() == 1);
}

TEST_CASE("parts that are found together are told in the order in which they were begun") {
  StagedJob job(1);
  job.join(0);
  for (const char* const name : {"c.h5", "a.h5", "e.h5", "b.h5", "d.h5", "f.h5"}) {
    ++job.begin_ns;
    job.write(0, name, "bytes");
  }
  Discovery discovery(job.directory());
  std::string order;
  for (const auto& published : only<PartPublished>(discovery.scan()))
    order += published.facts.path[published.facts.path.size() - 4];
  CHECK(order == "caebdf");
}

TEST_CASE("a part that was forgotten is reported anew") {
  StagedJob job(1);
  Discovery discovery(job.directory());
  job.join(0);
  const auto id = job.write(0, "a.h5", "bytes");
  CHECK(only<PartPublished>(discovery.scan()).size() == 1);
  CHECK(only<PartPublished>(discovery.scan()).empty());
  discovery.forget({id});
  CHECK(only<PartPublished>(discovery.scan()).size() == 1);
}

TEST_CASE("a journal that is still being begun is no part yet, and no error") {
  StagedJob job(1);
  Discovery discovery(job.directory());
  const auto id = *restart::PartId::random();
  job.join(0);
  REQUIRE(discovery.scan());
  std::ofstream(job.directory().path() + "/open/" + id.text() + ".journal");
  CHECK(discovery.scan()->empty());
  CHECK(job.directory().list(restart::LaunchDirectory::State::open)->size() == 1);
  job.leave(0);  // its writer died before it wrote a word: nobody would ever know what it is
  REQUIRE(discovery.scan());
  CHECK(job.directory().list(restart::LaunchDirectory::State::open)->empty());
}

TEST_CASE("the settings of a part's journal decide how its set is treated") {
  StagedJob job(4);
  job.settings = "set_wait=3 s;group_size=2;files=*";
  job.join(1);
  job.write(1, "a.1.h5", "bytes");
  Discovery discovery(job.directory());
  const auto seen = only<PartPublished>(discovery.scan());
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].facts.set_wait_ms == 3000);
  CHECK(seen[0].facts.group_size == 2);
  CHECK_FALSE(seen[0].facts.may_be_lone);
}

TEST_CASE(
    "a name that files=* gives beside that of the rank is the one for a set of the file alone") {
  StagedJob job(4);
  job.settings = "files=*";
  job.join(1);
  auto begun = job.begin(1, "a.1.h5", "bytes");
  restart::Journal journal;
  journal.begin = begun.begin;
  journal.begin.masked_names = {job.out("a.{rank}.h5"), job.out("a.1.h5")};
  const PartFacts both = facts_of(journal);
  CHECK(both.names.size() == 1);
  CHECK(both.lone_name == job.out("a.1.h5"));
  CHECK(both.may_be_lone);
  CHECK_FALSE(both.is_unranked);
  CHECK(both.family == restart::pattern_of(job.out("a.1.h5")));
  journal.begin.masked_names = {job.out("a.7.h5")};
  const PartFacts alone = facts_of(journal);
  CHECK(alone.is_unranked);
  CHECK(alone.writers == 1);
  CHECK_FALSE(alone.may_be_lone);
}

TEST_CASE("a family that a rank has marked is told once a part of it is here") {
  StagedJob job(4);
  job.join(0);
  Discovery discovery(job.directory());
  job.write(0, "f_0_1.h5", "bytes");
  CHECK(only<FamilyUnranked>(discovery.scan()).empty());
  const std::string family = restart::pattern_of(job.out("f_0_1.h5"));
  REQUIRE(job.directory().mark_native(family));
  const auto told = only<FamilyUnranked>(discovery.scan());
  REQUIRE(told.size() == 1);
  CHECK(told[0].family == family);
  CHECK(only<FamilyUnranked>(discovery.scan()).empty());
}

TEST_CASE("a part whose writer has no presence left belongs to a dead process") {
  StagedJob job(1);
  job.join(0);
  auto begun = job.begin(0, "a.h5", "bytes");
  job.leave(0);
  std::filesystem::remove_all(job.directory().path() + "/ranks");
  std::filesystem::create_directory(job.directory().path() + "/ranks");
  Discovery discovery(job.directory());
  const auto events = discovery.scan();
  CHECK(only<RankGone>(events).size() == 1);
}
