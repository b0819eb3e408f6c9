// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/launches.hpp"

#include <cerrno>
#include <string_view>

#include "restart/base/system.hpp"
#include "test/unit/aggregation/staged_job.hpp"

using namespace mcr;
using namespace mcr::aggregation;

namespace {

/// As for a user whom the mode of the file does not allow to read it.
int open_no_presence(int directory, const char* name, int flags, mode_t mode) {
  if (std::string_view(name).starts_with("ranks/")) return errno = EACCES, -1;
  return ::openat(directory, name, flags, mode);
}

}  // namespace

TEST_CASE("a launch whose files cannot be read counts as not committed") {
  StagedJob job(1);
  job.join(0);
  job.write(0, "a.0.h5", "bytes");
  job.write(0, "b.0.h5", "bytes");
  job.leave(0);
  restart::SystemCalls calls = restart::system_calls();
  calls.openat = open_no_presence;
  const restart::ReplacedSystemCalls replaced(calls);
  const auto launches = look_at_stage(job.stage());
  REQUIRE(launches);
  REQUIRE(launches->size() == 1);
  CHECK(launches->front().published == 2);
  CHECK(launches->front().unreadable.find("Permission denied") != std::string::npos);
}

TEST_CASE("the directory of a launch that is over and holds nothing is removed, and no other one") {
  StagedJob job(1);
  job.join(0);
  SECTION("a process lives") {
    remove_empty_launches(job.stage());
    CHECK(std::filesystem::exists(job.directory().path()));
  }
  SECTION("a part is left") {
    job.write(0, "a.0.h5", "bytes");
    job.leave(0);
    remove_empty_launches(job.stage());
    CHECK(job.count(restart::LaunchDirectory::State::published) == 1);
  }
  SECTION("it has a leader") {
    job.leave(0);
    const auto lock = job.directory().try_lead();
    remove_empty_launches(job.stage());
    CHECK(std::filesystem::exists(job.directory().path()));
  }
  SECTION("nothing is left") {
    job.leave(0);
    CHECK(*adopt_launches(job.stage(), {}, false) == 0);
    CHECK_FALSE(std::filesystem::exists(job.directory().path()));
  }
}
