// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/leader.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "aggregation/leader/lifetime.hpp"
#include "aggregation/leader/siblings.hpp"
#include "test/unit/aggregation/staged_job.hpp"

using namespace mcr;
using namespace mcr::aggregation;
using State = restart::LaunchDirectory::State;

namespace {

std::string sample(std::uint32_t rank) {
  return content_of(std::string(MCR_TEST_DATA) + "/comd_lj/rank000" + std::to_string(rank) + ".h5");
}

Result<LeaderReport> lead_here(const StagedJob& job) {
  LeaderOptions options;
  options.adopts_others = false;
  options.is_process = false;
  auto directory = restart::LaunchDirectory::open(job.directory().path());
  REQUIRE(directory);
  return lead(std::move(*directory), options);
}

}  // namespace

TEST_CASE("what a dead job and its dead leader left is drained, and its directory goes") {
  StagedJob job(4);
  for (std::uint32_t r = 0; r < 4; ++r) {
    job.join(r);
    job.write(r, "a." + std::to_string(r) + ".h5", sample(r));
    job.leave(r);
  }
  const auto report = lead_here(job);
  REQUIRE(report);
  CHECK(report->led);
  CHECK(report->removed);
  CHECK_FALSE(std::filesystem::exists(job.directory().path()));
  CHECK(std::filesystem::exists(job.out("mcr/set-a.{rank}.h5.launch-0.r0-3.h5")));
}

TEST_CASE("a leader that finds the launch led ends at once") {
  StagedJob job(1);
  job.join(0);
  const auto lock = job.directory().try_lead();
  REQUIRE(lock);
  REQUIRE(lock->has_value());
  const auto report = lead_here(job);
  REQUIRE(report);
  CHECK_FALSE(report->led);
}

TEST_CASE("the leader drains while ranks write, and ends after the last of them") {
  StagedJob job(2);
  job.join(0);
  job.join(1);
  Result<LeaderReport> report = LeaderReport{};
  std::thread leader([&] { report = lead_here(job); });
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (std::uint32_t r = 0; r < 2; ++r) {
      job.write(r, "a." + std::to_string(r) + ".h5", sample(r), step);
    }
  }
  for (std::uint32_t r = 0; r < 2; ++r) {
    job.end(r);
    job.leave(r);
  }
  leader.join();
  REQUIRE(report);
  CHECK(report->removed);
  for (const int step : {0, 1, 2}) {
    CHECK(std::filesystem::exists(
        job.out("mcr/set-a.{rank}.h5.launch-" + std::to_string(step) + ".r0-1.h5")));
  }
}

TEST_CASE(
    "a lone file is a native file two seconds after its publish, and the third one is never "
    "staged") {
  StagedJob job(4);
  for (std::uint32_t r = 0; r < 4; ++r) job.join(r);
  std::thread leader([&] { CHECK(lead_here(job)); });
  for (std::uint64_t step = 0; step < 2; ++step) {
    job.write(0, "log_0.h5", sample(0), step);
    // Not read meanwhile: whoever reads a stub may copy it, and a copy needs a container.
    const auto has_its_size = [&] {
      return std::filesystem::file_size(job.out("log_0.h5")) == sample(0).size();
    };
    for (int turn = 0; turn < 200 && !has_its_size(); ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(content_of(job.out("log_0.h5")) == sample(0));
  }
  const std::string pattern = restart::pattern_of(job.out("log_{rank}.h5"));
  CHECK(job.directory().is_marked_native(pattern));
  for (std::uint32_t r = 0; r < 4; ++r) job.leave(r);
  leader.join();
  CHECK_FALSE(std::filesystem::exists(job.out("mcr")));
}

TEST_CASE("storage that refuses containers gets the parts as plain files, and ranks are told") {
  StagedJob job(2);
  std::ofstream(job.out("mcr")) << "in the way";
  for (std::uint32_t r = 0; r < 2; ++r) {
    job.join(r);
    job.write(r, "a." + std::to_string(r) + ".h5", sample(r));
  }
  std::thread leader([&] { CHECK(lead_here(job)); });
  const auto all_native = [&] {
    return content_of(job.out("a.0.h5")) == sample(0) && content_of(job.out("a.1.h5")) == sample(1);
  };
  for (int turn = 0; turn < 500 && !all_native(); ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(all_native());
  CHECK(job.directory().notice().commit_failed);
  for (std::uint32_t r = 0; r < 2; ++r) job.leave(r);
  leader.join();
}

TEST_CASE("a file is not alone whose launch has a container under its name, whoever wrote that") {
  StagedJob job(4);
  job.join(0);
  const auto begun = job.begin(0, "tmp.0.h5", sample(0));
  CHECK_FALSE(find_siblings(begun.begin, {}).name);
  std::filesystem::create_directory(job.out("mcr"));
  std::ofstream(job.out("mcr/set-tmp.{rank}.h5.other-3.r1-1.h5")) << "another launch's";
  CHECK_FALSE(find_siblings(begun.begin, {}).name);
  std::ofstream(job.out("mcr/set-tmp.{rank}.h5.launch-3.r0-0.h5")) << "ours";
  CHECK(find_siblings(begun.begin, {}).name == 0);
  CHECK(find_siblings(begun.begin, {}).is_certain);
  // This leader has found the file lone before.
  CHECK_FALSE(find_siblings(begun.begin, {}, {{begun.begin.path, 0}}).name);
}

TEST_CASE("another rank's stub at a path that bears a third rank's number is no company") {
  StagedJob job(4);
  job.join(0);
  job.join(2);
  const auto begun = job.begin(0, "f_0_1.h5", sample(0));
  job.write(2, "f_1_1.h5", sample(2));
  CHECK_FALSE(find_siblings(begun.begin, {}).name);
  job.join(3);
  job.write(3, "f_3_1.h5", sample(3));
  CHECK(find_siblings(begun.begin, {}).name == 0);
}

TEST_CASE("native files are certain company only where the last rank has one") {
  StagedJob job(4);
  job.join(0);
  auto begun = job.begin(0, "a.0.h5", sample(0));
  std::ofstream(job.out("a.1.h5")) << "whose?";
  CHECK(find_siblings(begun.begin, {}).name == 0);
  CHECK_FALSE(find_siblings(begun.begin, {}).is_certain);
  std::ofstream(job.out("a.3.h5")) << "rank 3's, most likely";
  CHECK(find_siblings(begun.begin, {}).is_certain);
  CHECK_FALSE(
      find_siblings(begun.begin, {}, {{job.out("a.1.h5"), 0}, {job.out("a.3.h5"), 0}}).name);
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  begun.begin.begin_ns = 1'000'000'000ULL * static_cast<std::uint64_t>(::time(nullptr));
  std::filesystem::last_write_time(job.out("a.3.h5"), long_ago);
  CHECK_FALSE(find_siblings(begun.begin, {}).is_certain);
}

TEST_CASE("a file that has a container of its own gets no other name") {
  StagedJob job(4);
  job.join(0);
  auto begun = job.begin(0, "a.0.h5", sample(0));
  begun.begin.masked_names.push_back(begun.begin.path);
  std::ofstream(job.out("a.3.h5")) << "rank 3's, most likely";
  std::filesystem::create_directory(job.out("mcr"));
  std::ofstream(job.out("mcr/set-a.0.h5.launch-1.r0-0.h5")) << "of another writing";
  CHECK(find_siblings(begun.begin, {}).name == 0);
  std::ofstream(job.out("mcr/set-a.0.h5.launch-0.r0-0.h5")) << "of this one";
  CHECK(find_siblings(begun.begin, {}).name == 1);
}

TEST_CASE("a file is not alone beside whose new name another rank's lies") {
  StagedJob job(4);
  job.join(1);
  const auto part = job.write(1, "tmp.1.h5", sample(1));
  const auto begin =
      job.directory().journal(restart::LaunchDirectory::State::published, part)->begin;
  StubHandles stubs;
  stubs.remember(begin);
  std::filesystem::rename(job.out("tmp.1.h5"), job.out("ckpt.1.h5"));
  CHECK_FALSE(find_siblings(begin, stubs).name);
  std::ofstream(job.out("ckpt.0.h5")) << "rank 0's";
  CHECK(find_siblings(begin, stubs).name == 0);
  CHECK_FALSE(find_siblings(begin, {}).name);
}

TEST_CASE("a list of cores") {
  CHECK(*parse_cpus("0-2,5") == std::vector<unsigned>{0, 1, 2, 5});
  CHECK(*parse_cpus("7") == std::vector<unsigned>{7});
  CHECK_FALSE(parse_cpus("3-1"));
  CHECK_FALSE(parse_cpus("a"));
  CHECK_FALSE(parse_cpus("1,,2"));
  CHECK_FALSE(parse_cpus("99999"));
}
