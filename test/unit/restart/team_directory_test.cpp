// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/team_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "restart/base/lock.hpp"
#include "restart/format/replica.hpp"
#include "restart/stage/replicated_parts.hpp"
#include "restart/stage/stage.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;
using Box = TeamDirectory::Box;
using Names = std::vector<std::string>;

namespace {

struct Place {
  ScratchDirectory scratch;
  std::string stage = scratch / "stage";
  TeamDirectory replicas = *TeamDirectory::make(stage);

  void put(Box box, const std::string& name, const std::string& content = "x") const {
    const auto file = replicas.create(box, name);
    REQUIRE(file);
    REQUIRE(file->write_at(0, as_bytes(content)));
  }
};

constexpr std::uint64_t published_ns = 5;

Bytes replica_of(const PartId& part) {
  Replica replica;
  replica.journals.emplace_back();
  replica.journals.back().begin.part = part;
  replica.journals.back().begin.path = "/w/a.0.h5";
  replica.journals.back().publish.emplace().publish_ns = published_ns;
  return write_replica_tail(replica);
}

}  // namespace

TEST_CASE("a stage has replicas once somebody has made a place for them") {
  const ScratchDirectory scratch;
  REQUIRE(LaunchDirectory::create(scratch / "stage", "here", "first"));
  const auto before = TeamDirectory::find(scratch / "stage");
  REQUIRE(before);
  CHECK_FALSE(before->has_value());
  REQUIRE(TeamDirectory::make(scratch / "stage"));
  const auto after = TeamDirectory::find(scratch / "stage");
  REQUIRE(after);
  CHECK(after->has_value());
  CHECK_FALSE(*TeamDirectory::find(scratch / "no stage"));
}

TEST_CASE("a replica is in one box at a time, and takes the place of an older one of its name") {
  const Place place;
  place.put(Box::made, "n.first.1", "old");
  place.put(Box::made, "n.first.1", "new");
  place.put(Box::out, "n.first.1", "another");
  REQUIRE(place.replicas.move("n.first.1", Box::made, Box::out));
  CHECK_FALSE(place.replicas.has(Box::made, "n.first.1"));
  CHECK(*place.replicas.list(Box::out) == Names{"n.first.1"});
  CHECK(as_text(*place.replicas.open(Box::out, "n.first.1")->read_all(10)) == "new");
  REQUIRE(place.replicas.remove(Box::out, "n.first.1"));
  REQUIRE(place.replicas.remove(Box::out, "n.first.1"));  // it is gone: no error
  CHECK(place.replicas.list(Box::out)->empty());
}

TEST_CASE("a link in a box is not followed, and create() replaces it") {
  const Place place;
  const std::string key = place.scratch / "key";
  const auto file = File::open(AT_FDCWD, key, O_RDWR | O_CREAT);
  REQUIRE(file);
  REQUIRE(file->write_at(0, as_bytes("private")));
  REQUIRE(::symlink(key.c_str(), (place.stage + "/replicas/held/n.first.1").c_str()) == 0);
  CHECK_FALSE(place.replicas.open(Box::held, "n.first.1"));
  place.put(Box::held, "n.first.1");
  CHECK(place.replicas.open(Box::held, "n.first.1"));
  CHECK(as_text(*file->read_all(10)) == "private");
}

TEST_CASE("a node has one process of the team, as long as that process holds its file open") {
  const Place place;
  CHECK_FALSE(place.replicas.has_team());
  auto first = place.replicas.join_team();
  REQUIRE(first);
  REQUIRE(first->has_value());
  CHECK(place.replicas.has_team());
  const auto second = place.replicas.join_team();
  REQUIRE(second);
  CHECK_FALSE(second->has_value());
  *first = std::nullopt;
  CHECK_FALSE(place.replicas.has_team());
}

TEST_CASE(
    "what dead launches have left goes; replicas of other nodes and of living launches stay") {
  const Place place;
  const auto launch = LaunchDirectory::create(place.stage, "here", "lives");
  REQUIRE(launch);
  const std::string own = TeamDirectory::name_of_launch(launch->path(), "1");
  for (const Box box : {Box::made, Box::out, Box::sent, Box::held}) {
    place.put(box, own);
    place.put(box, "here.dead.1");
  }
  REQUIRE(place.replicas.remove_leftovers());
  for (const Box box : {Box::made, Box::out, Box::sent})
    CHECK(*place.replicas.list(box) == Names{own});
  CHECK(place.replicas.list(Box::held)->size() == 2);
}

TEST_CASE("a part is replicated when its launch's replica is in sent/, and stays so for one wait") {
  const Place place;
  const auto launch = LaunchDirectory::create(place.stage, "here", "first");
  REQUIRE(launch);
  const PartId part = *PartId::random();
  ReplicatedParts parts(launch->path());
  CHECK_FALSE(parts.has(part, published_ns));
  const std::string name = TeamDirectory::name_of_launch(launch->path(), "1");
  place.put(Box::sent, name, std::string(as_text(replica_of(*PartId::random()))));
  place.put(Box::out, TeamDirectory::name_of_launch(launch->path(), "2"),
            std::string(as_text(replica_of(part))));
  place.put(Box::sent, "here.other.1", std::string(as_text(replica_of(part))));
  CHECK_FALSE(parts.has(part, published_ns));
  // Another file of the same name: the next commit of the group.
  place.put(Box::made, name, std::string(as_text(replica_of(part))));
  REQUIRE(place.replicas.move(name, Box::made, Box::sent));
  CHECK(parts.has(part, published_ns));
  CHECK_FALSE(parts.has(part, published_ns + 1));  // the file was written again since
  REQUIRE(place.replicas.remove(Box::sent, name));
  CHECK(parts.has(part, published_ns));
}

TEST_CASE("a file in sent/ that is no replica replicates nothing") {
  const Place place;
  const auto launch = LaunchDirectory::create(place.stage, "here", "first");
  REQUIRE(launch);
  const PartId part = *PartId::random();
  std::string damaged(as_text(replica_of(part)));
  damaged[damaged.size() / 2] ^= 1;
  place.put(Box::sent, TeamDirectory::name_of_launch(launch->path(), "1"), damaged);
  place.put(Box::sent, TeamDirectory::name_of_launch(launch->path(), "2"), "");
  CHECK_FALSE(ReplicatedParts(launch->path()).has(part, published_ns));
}

TEST_CASE(
    "what dead leaders have left in asked/ and given/ is removed, and not what living ones need") {
  const Place place;
  for (const Box box : {Box::asked, Box::given}) place.put(box, "dead");
  const auto living = place.replicas.create(Box::given, "living");
  REQUIRE(living);
  REQUIRE(*try_lock(*living, LockKind::exclusive));
  REQUIRE(place.replicas.remove_leftovers());
  CHECK(place.replicas.list(Box::asked)->empty());
  CHECK(*place.replicas.list(Box::given) == Names{"living"});
}
