// SPDX-License-Identifier: BSD-3-Clause
// A node is lost while another one has two replicas of one part: the program had opened the file again after the first was sent.
#include "aggregation/leader/held_replicas.hpp"

#include <utility>

#include "aggregation/commit/commit.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/part_image.hpp"
#include "restart/stage/team_directory.hpp"
#include "test/unit/aggregation/staged_job.hpp"

using namespace mcr;
using namespace mcr::aggregation;
using restart::TeamDirectory;
using Box = restart::TeamDirectory::Box;

namespace {

/// The replica that a leader makes of this part goes to `file`.
void replicate(const StagedJob& job, const restart::PartId& part, const std::string& file) {
  const TeamDirectory place = *TeamDirectory::make(job.stage());
  const auto team = place.join_team();
  REQUIRE(team);
  DrainGroup group;
  group.set = {"launch", job.out("a.{rank}.h5"), 0};
  group.parts = {part};
  group.ranks = {0};
  StubHandles stubs;
  const auto held = hold_group(job.directory(), group, stubs);
  REQUIRE(held);
  const auto names = place.list(Box::out);
  REQUIRE(names->size() == 1);
  std::filesystem::copy_file(place.path() + "/out/" + names->front(), file);
}

std::string first_part_of(const std::string& directory) {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".h5") continue;
    CHECK(found.empty());
    const auto reader = restart::ContainerReader::open(AT_FDCWD, entry.path());
    REQUIRE(reader);
    const auto image = restart::open_part_image(*reader, (*(*reader)->parts())->front());
    REQUIRE(image);
    found.resize((*image)->size());
    REQUIRE((*image)->read_at(0, std::as_writable_bytes(std::span(found))));
  }
  return found;
}

}  // namespace

TEST_CASE("of two replicas of one part, the newer one is brought back") {
  StagedJob job(1);
  job.settings = "replicas=1;files=*";
  job.join(0);
  const restart::PartId part = job.write(0, "a.0.h5", "older content");
  const std::string older = job.out("older");
  const std::string newer = job.out("newer");
  replicate(job, part, older);
  auto again = job.directory().withdraw(part);
  REQUIRE(again);
  REQUIRE(again->has_value());
  REQUIRE((*again)->bytes.write_at(0, as_bytes("newer content")));
  restart::PartPublish record;
  record.size = 13;
  record.publish_ns = 3'000'000'000;
  REQUIRE(job.directory().publish(part, (*again)->journal, record));
  (*again)->bytes = restart::File();
  replicate(job, part, newer);

  const restart::ScratchDirectory buddy;
  const TeamDirectory place = *TeamDirectory::make(buddy / "stage");
  const std::string held = place.path() + "/held/";
  bool is_first = false;
  SECTION("by name the older one is the first") { is_first = true; }
  SECTION("by name the newer one is the first") {}
  std::filesystem::rename(older, held + (is_first ? "a.launch.1" : "a.launch.2"));
  std::filesystem::rename(newer, held + (is_first ? "a.launch.2" : "a.launch.1"));
  const auto brought = bring_back_replicas(buddy / "stage");
  REQUIRE(brought);
  CHECK(brought->kept.empty());
  CHECK(place.list(Box::held)->empty());
  CHECK(first_part_of(job.out("mcr")) == "newer content");
}
