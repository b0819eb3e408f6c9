// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/launch_clock.hpp"

#include <fcntl.h>

#include <limits>

#include "restart/container/container_reader.hpp"
#include "restart/format/container_name.hpp"
#include "test/unit/aggregation/staged_job.hpp"
#include "test/unit/restart/one_part_container.hpp"

using namespace mcr;
using namespace mcr::aggregation;

TEST_CASE("a launch exceeds a container of the latest time, and its clock moves by about a day") {
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr std::uint64_t day = 86'400 * second;
  StagedJob job(1);
  job.join(0);
  const auto begun = job.begin(0, "a.0.h5", "bytes");
  restart::SetIdentity set;
  set.masked_name = job.out("b.{rank}.h5");
  set.launch = "older";
  set.created_ns = 1;
  set.begun_ns = set.order_ns = std::numeric_limits<std::uint64_t>::max();
  SECTION("of another launch") {}
  SECTION("of an earlier program of this launch") {
    set.launch = "launch";
    set.begun_ns = job.begin_ns;
  }
  const auto name = restart::container_name(set.masked_name, "mcr", set.launch, 0);
  std::filesystem::create_directory(name.directory);
  REQUIRE(::chmod(name.directory.c_str(), 0755) == 0);
  const std::string path = name.directory + "/" + name.prefix + restart::container_suffix(0, 0, {});
  std::ofstream(path, std::ios::binary) << as_text(
      restart::one_part_container(set, *restart::PartId::random(), 0, "b.0.h5", "bytes"));

  LaunchClock clock(job.directory());
  clock.remember(begun.begin);
  REQUIRE(clock.has_news());
  clock.look();
  const std::uint64_t behind = job.directory().clock_behind_ns();
  CHECK(behind < day + 60 * second);
  const auto reader = restart::ContainerReader::open(AT_FDCWD, path);
  REQUIRE(reader);
  CHECK(job.begin_ns + behind >= (*reader)->set().order());
}
