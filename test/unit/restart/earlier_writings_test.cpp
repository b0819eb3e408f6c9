// SPDX-License-Identifier: BSD-3-Clause
// The sequence with which a program continues after an earlier program of the same rank and launch.
#include "restart/sets/earlier_writings.hpp"

#include <filesystem>
#include <fstream>

#include "test/support/catch.hpp"
#include "test/unit/restart/made_container.hpp"
#include "test/unit/restart/staged_parts.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

/// A launch of four ranks that write `tmp` and rename it.
struct Place : TestStage {
  Place() { std::filesystem::create_directories(scratch / "out/mcr"); }

  [[nodiscard]] PartBegin begin(std::uint32_t rank, std::uint64_t sequence = 0) const {
    PartBegin begin = begin_of(*PartId::random());
    begin.path = scratch / ("out/tmp." + std::to_string(rank) + ".h5");
    begin.masked_names = {scratch / "out/tmp.{rank}.h5"};
    begin.rank = rank;
    begin.rank_count = 4;
    begin.sequence = sequence;
    return begin;
  }
  void stage(std::uint32_t rank, std::uint64_t sequence) const {
    const PartBegin part = begin(rank, sequence);
    REQUIRE(directory.publish_small(part, final_publish(1), as_bytes("x")));
  }
  /// Stores a container under that name. It holds parts of ranks 0 and 1, whatever the name says.
  void store(const std::string& name) const {
    const MadeContainer made(scratch / ("out/mcr/" + name), 1, scratch / "out/tmp.{rank}.h5");
  }
  [[nodiscard]] std::uint64_t next(EarlierWritings& earlier, std::uint32_t rank) const {
    return earlier.next_sequence(directory, begin(rank), "mcr");
  }
  [[nodiscard]] std::uint64_t next(std::uint32_t rank) const {
    EarlierWritings earlier;
    return next(earlier, rank);
  }
};

}  // namespace

TEST_CASE("without an earlier writing the sequence is 0") { CHECK(Place().next(1) == 0); }

TEST_CASE("a rank's own parts in the stage count, even if renamed; parts of other ranks do not") {
  const Place place;
  place.stage(1, 0);
  place.stage(1, 1);
  place.stage(2, 5);
  CHECK(place.next(1) == 2);
  CHECK(place.next(0) == 0);
}

TEST_CASE("what this launch writes into a file of an earlier launch does not count") {
  const Place place;
  PartBegin amended = place.begin(1, 4);
  amended.launch = "earlier";
  REQUIRE(place.directory.publish_small(amended, final_publish(1), as_bytes("x")));
  CHECK(place.next(1) == 0);
}

TEST_CASE("a rank's parts in containers of the launch count") {
  const Place place;
  place.store("set-tmp.{rank}.h5.launch-0.r0-3.h5");
  place.store("set-tmp.{rank}.h5.launch-3.r0-3.h5");
  place.store("set-tmp.{rank}.h5.other-7.r0-3.h5");
  place.store("set-new.{rank}.h5.launch-8.r0-3.h5");
  CHECK(place.next(1) == 4);
}

TEST_CASE("a late rank's first writing belongs to the set in the container of the other ranks") {
  const Place place;
  place.store("set-tmp.{rank}.h5.launch-0.r0-3.h5");
  CHECK(place.next(2) == 0);
  CHECK(place.next(1) == 1);
}

TEST_CASE("a container that came with a renamed directory has other names and does not count") {
  const Place place;
  const MadeContainer moved(place.scratch / "out/mcr/set-tmp.{rank}.h5.launch-5.r0-3.h5", 1,
                            place.scratch / "before/tmp.{rank}.h5");
  CHECK(place.next(1) == 0);
}

TEST_CASE("a container that cannot be read counts by its name") {
  const Place place;
  std::ofstream(place.scratch / "out/mcr/set-tmp.{rank}.h5.launch-4.r0-3.h5") << "no container";
  CHECK(place.next(2) == 5);
}

TEST_CASE("later writings of this process itself do not count") {
  const Place place;
  EarlierWritings earlier;
  CHECK(place.next(earlier, 1) == 0);
  place.stage(1, 0);
  place.store("set-tmp.{rank}.h5.launch-1.r0-3.h5");
  CHECK(place.next(earlier, 1) == 0);
}
