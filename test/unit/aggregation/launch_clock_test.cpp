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

namespace {

constexpr std::uint64_t second = 1'000'000'000;

/// A job with one part, and other launches' containers in the directory of its containers.
class Directory {
 public:
  Directory() : begun_(begin()) {}

  /// Writes a container without a mark, so that it counts as a copy.
  std::string add(const std::string& launch, std::uint64_t sequence, std::uint64_t order_ns,
                  std::uint32_t supplement = 0) {
    restart::SetIdentity set;
    set.masked_name = job_.out("b.{rank}.h5");
    set.launch = launch;
    set.sequence = sequence;
    set.created_ns = 1;
    set.begun_ns = launch == "launch" ? job_.begin_ns : order_ns;
    set.order_ns = order_ns;
    const auto name = restart::container_name(set.masked_name, "mcr", launch, sequence);
    directory_ = name.directory;
    std::filesystem::create_directory(directory_);
    REQUIRE(::chmod(directory_.c_str(), 0755) == 0);
    const std::string path =
        directory_ + "/" + name.prefix +
        restart::container_suffix(0, 0, supplement == 0 ? std::nullopt : std::optional(supplement));
    std::ofstream(path, std::ios::binary) << as_text(
        restart::one_part_container(set, *restart::PartId::random(), 0, "b.0.h5", "bytes"));
    return path;
  }

  /// Returns the time of this launch's next set.
  std::uint64_t order_after_look() {
    if (clock_.has_news() || !is_remembered_) {
      clock_.remember(begun_.begin);
      is_remembered_ = true;
      clock_.look();
    } else {
      clock_.look_if_replaced(directory_);
    }
    return now() + job_.directory().clock_behind_ns();
  }
  [[nodiscard]] std::uint64_t now() const { return job_.begin_ns; }
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  StagedJob::Begun begin() {
    job_.join(0);
    return job_.begin(0, "a.0.h5", "bytes");
  }

  StagedJob job_{1};
  StagedJob::Begun begun_;
  LaunchClock clock_{job_.directory()};
  std::string directory_;
  bool is_remembered_ = false;
};

}  // namespace

TEST_CASE(
    "a launch exceeds the times of other launches' sets, and of its own from an earlier program") {
  Directory there;
  const std::uint64_t time = there.now() + 30 * second;
  SECTION("of another launch") {
    there.add("older", 0, time);
    CHECK(there.order_after_look() > time);
  }
  SECTION("of an earlier program of this launch") {
    there.add("launch", 0, time);
    CHECK(there.order_after_look() >= time);
  }
  SECTION("that only a supplement tells") {
    there.add("older", 0, there.now() - second);
    there.add("older", 0, time, 1);
    CHECK(there.order_after_look() > time);
  }
  SECTION("that the file which was written and changed first tells, of many") {
    there.add("older", 0, time);
    for (std::uint64_t i = 1; i < 40; ++i) there.add("older", i, there.now() - second);
    CHECK(there.order_after_look() > time);
  }
  SECTION("in a directory that takes the place of the one that was searched") {
    there.add("older", 0, there.now() - second);
    CHECK(there.order_after_look() == there.now());
    std::filesystem::rename(there.directory(), there.directory() + ".away");
    there.add("older", 0, time);
    CHECK(there.order_after_look() > time);
  }
}

TEST_CASE("times that no clock tells do not move a launch's clock") {
  Directory there;
  there.add("older", 0, std::numeric_limits<std::uint64_t>::max());
  CHECK(there.order_after_look() == there.now());
}
