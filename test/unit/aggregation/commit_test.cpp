// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/commit.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>
#include <utility>

#include "restart/base/system.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/part_image.hpp"
#include "test/unit/aggregation/staged_job.hpp"

using namespace mcr;
using namespace mcr::aggregation;
using State = restart::LaunchDirectory::State;

namespace {

std::string sample(std::uint32_t rank) {
  return content_of(std::string(MCR_TEST_DATA) + "/comd_lj/rank000" + std::to_string(rank) + ".h5");
}

DrainGroup group_of_parts(const StagedJob& job, std::uint32_t ranks, std::vector<PartId> parts) {
  DrainGroup group;
  group.drain = 1;
  group.set = {"launch", job.out("a.{rank}.h5"), 0};
  group.rank_count = ranks;
  for (std::uint32_t r = 0; r < parts.size(); ++r) group.ranks.push_back(r);
  group.parts = std::move(parts);
  return group;
}

std::vector<std::string> containers(const StagedJob& job) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(job.out("mcr"))) return names;
  for (const auto& entry : std::filesystem::directory_iterator(job.out("mcr"))) {
    if (entry.path().extension() == ".h5") names.push_back(entry.path());
  }
  return names;
}

std::string part_from(const std::string& container, const PartId& part) {
  auto reader = restart::ContainerReader::open(AT_FDCWD, container);
  REQUIRE(reader);
  const auto parts = (*reader)->parts();
  REQUIRE(parts);
  for (const auto& record : **parts) {
    if (record.entry.part != part) continue;
    auto image = restart::open_part_image(*reader, record);
    REQUIRE(image);
    std::string content((*image)->size(), '\0');
    REQUIRE((*image)->read_at(0, std::as_writable_bytes(std::span(content))));
    return content;
  }
  FAIL("the container does not list the part");
  return {};
}

/// Runs once, when a container's temporary file is about to be made.
std::function<void()> before_container;

restart::SystemCalls with_interruption(std::function<void()> what) {
  before_container = std::move(what);
  restart::SystemCalls calls = restart::real_system_calls();
  calls.openat = [](int directory, const char* name, int flags, mode_t mode) {
    if ((flags & O_CREAT) != 0 && std::string_view(name).starts_with(".mcr-")) {
      if (const auto interrupt = std::exchange(before_container, {})) interrupt();
    }
    return restart::real_system_calls().openat(directory, name, flags, mode);
  };
  return calls;
}

struct Interrupted {
  StagedJob job{2};
  std::vector<PartId> parts;
  StubHandles stubs;
  Summary summary{job.directory()};

  Interrupted() {
    for (std::uint32_t r = 0; r < 2; ++r) {
      job.join(r);
      auto begun = job.begin(r, "a." + std::to_string(r) + ".h5", sample(r));
      stubs.remember(begun.begin);
      parts.push_back(job.publish(begun, false, false));
    }
  }

  DrainDone commit_while(std::function<void()> what) {
    const restart::SystemCalls calls = with_interruption(std::move(what));
    const restart::ReplacedSystemCalls replaced(calls);
    auto done = commit_group(job.directory(), group_of_parts(job, 2, parts), summary, &stubs);
    CHECK_FALSE(before_container);
    return done;
  }
};

}  // namespace

TEST_CASE("a directory that is removed while its container is made takes its parts with it") {
  Interrupted it;
  const auto done = it.commit_while([&] { std::filesystem::remove_all(it.job.out("")); });
  CHECK(done.committed.size() == 2);
  CHECK(done.failed.empty());
  CHECK_FALSE(done.storage_failed);
  CHECK(it.job.count(State::published) == 0);
  CHECK_FALSE(std::filesystem::exists(it.job.out("")));
}

TEST_CASE("a directory that is renamed while its container is made gets the container") {
  Interrupted it;
  const std::string home = it.job.out("");
  const std::string now = it.job.stage() + "/../final";
  const auto done =
      it.commit_while([&] { std::filesystem::rename(home.substr(0, home.size() - 1), now); });
  CHECK(done.committed.size() == 2);
  CHECK_FALSE(done.storage_failed);
  const std::string container = now + "/mcr/set-a.{rank}.h5.launch-0.r0-1.h5";
  REQUIRE(std::filesystem::exists(container));
  for (std::uint32_t r = 0; r < 2; ++r) CHECK(part_from(container, it.parts[r]) == sample(r));
}

TEST_CASE("a container's directory that is removed while the container is made is made again") {
  Interrupted it;
  const auto done = it.commit_while([&] { std::filesystem::remove_all(it.job.out("mcr")); });
  CHECK(done.committed.size() == 2);
  CHECK_FALSE(done.storage_failed);
  CHECK(containers(it.job).size() == 1);
}

TEST_CASE("a directory that goes away again and again is not followed for ever") {
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.0.h5", sample(0));
  restart::SystemCalls calls = restart::real_system_calls();
  calls.openat = [](int directory, const char* name, int flags, mode_t mode) {
    if (!std::string_view(name).starts_with(".mcr-"))
      return restart::real_system_calls().openat(directory, name, flags, mode);
    errno = ENOENT;
    return -1;
  };
  const restart::ReplacedSystemCalls replaced(calls);
  Summary summary(job.directory());
  const auto done = commit_group(job.directory(), group_of_parts(job, 1, {id}), summary);
  CHECK(done.failed == std::vector<PartId>{id});
  CHECK(done.place_went_away);
  CHECK_FALSE(done.storage_failed);
}

TEST_CASE("a leader with few descriptors writes a set in several containers") {
  constexpr std::uint32_t ranks = 40;
  StagedJob job(ranks);
  std::vector<PartId> parts;
  StubHandles stubs;
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    job.join(r);
    parts.push_back(job.write(r, "a." + std::to_string(r) + ".h5", sample(r % 4)));
  }
  const restart::File next = *restart::File::open(AT_FDCWD, "/dev/null", O_RDONLY);
  const rlimit few{static_cast<rlim_t>(next.descriptor()) + 44, before.rlim_max};
  Summary summary(job.directory());
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::vector<PartId> left = parts;
  DrainDone done;
  while (!left.empty()) {
    done = commit_group(job.directory(), group_of_parts(job, ranks, left), summary, &stubs);
    if (done.committed.empty() || !done.failed.empty()) break;
    std::erase_if(left, [&](const PartId& part) {
      return std::find(done.committed.begin(), done.committed.end(), part) != done.committed.end();
    });
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(left.empty());
  CHECK(done.failed.empty());
  CHECK(containers(job).size() > 1);
  CHECK(job.count(State::published) == 0);
}

TEST_CASE("a group becomes a container that gives every part back, and leaves the stage") {
  StagedJob job(4);
  std::vector<PartId> parts;
  for (std::uint32_t r = 0; r < 4; ++r) {
    job.join(r);
    parts.push_back(job.write(r, "a." + std::to_string(r) + ".h5", sample(r)));
  }
  Summary summary(job.directory());
  const auto done = commit_group(job.directory(), group_of_parts(job, 4, parts), summary);
  CHECK(done.committed.size() == 4);
  CHECK(done.failed.empty());
  REQUIRE(containers(job).size() == 1);
  for (std::uint32_t r = 0; r < 4; ++r) CHECK(part_from(containers(job)[0], parts[r]) == sample(r));
  CHECK(job.count(State::published) == 0);
  CHECK(job.count(State::committed) == 0);
  // Their bytes wait in the pool for the next parts of living ranks.
  CHECK(std::filesystem::exists(job.directory().path() + "/pool/0.0"));
  // Counted before they left the stage: a rank at its end looks there for them.
  const std::string text = content_of(job.directory().path() + "/summary");
  CHECK(text.find("sets=1\n") != std::string::npos);
  CHECK(text.find("parts=4\n") != std::string::npos);
}

TEST_CASE("kept parts stay in the stage after commit") {
  StagedJob job(1);
  job.join(0);
  auto group = group_of_parts(job, 1, {job.write(0, "a.0.h5", sample(0))});
  group.keep = true;
  Summary summary(job.directory());
  CHECK(commit_group(job.directory(), group, summary).committed.size() == 1);
  CHECK(job.count(State::committed) == 1);
}

TEST_CASE("what a dead leader had committed is not written again") {
  StagedJob job(2);
  job.join(0);
  job.join(1);
  const auto first = job.write(0, "a.0.h5", sample(0));
  const auto second = job.write(1, "a.1.h5", sample(1));
  // The leader died after the rename: the journals are as before.
  const std::string journals = job.directory().path() + "/published";
  std::filesystem::copy(journals, job.out("journals"));
  const std::string bytes = job.directory().path() + "/parts";
  std::filesystem::copy(bytes, job.out("bytes"));
  Summary summary(job.directory());
  CHECK(commit_group(job.directory(), group_of_parts(job, 2, {first, second}), summary)
            .committed.size() == 2);
  std::filesystem::copy(job.out("journals"), journals, std::filesystem::copy_options::recursive);
  std::filesystem::copy(job.out("bytes"), bytes, std::filesystem::copy_options::recursive);
  REQUIRE(job.count(State::published) == 2);
  CHECK(commit_group(job.directory(), group_of_parts(job, 2, {first, second}), summary)
            .committed.size() == 2);
  CHECK(containers(job).size() == 1);
  CHECK(job.count(State::published) == 0);
}

TEST_CASE("a part whose dead writer's stub cannot be put in place stays in the stage") {
  StagedJob job(1);
  job.join(0);
  auto begun = job.begin(0, "a.0.h5", sample(0));
  const auto id = job.publish(begun, false, false);
  job.leave(0);
  Summary summary(job.directory());
  {
    restart::SystemCalls calls = restart::real_system_calls();
    calls.openat = [](int directory, const char* name, int flags, mode_t mode) {
      if (std::string_view(name) != "a.0.h5")
        return restart::real_system_calls().openat(directory, name, flags, mode);
      errno = EIO;
      return -1;
    };
    const restart::ReplacedSystemCalls replaced(calls);
    const auto done = commit_group(job.directory(), group_of_parts(job, 1, {id}), summary);
    CHECK(done.without_stub == std::vector<PartId>{id});
    CHECK(done.failed.empty());
    CHECK_FALSE(done.storage_failed);
  }
  CHECK(containers(job).size() == 1);
  CHECK(job.count(State::published) == 1);
  CHECK(commit_group(job.directory(), group_of_parts(job, 1, {id}), summary).committed ==
        std::vector<PartId>{id});
  CHECK(containers(job).size() == 1);
  CHECK(job.count(State::published) == 0);
}

TEST_CASE("a late part goes into a container beside the first one") {
  StagedJob job(2);
  job.join(0);
  job.join(1);
  Summary summary(job.directory());
  auto early = group_of_parts(job, 2, {job.write(0, "a.0.h5", sample(0))});
  CHECK(commit_group(job.directory(), early, summary).committed.size() == 1);
  const auto late_part = job.write(1, "a.1.h5", sample(1));
  auto late = group_of_parts(job, 2, {late_part});
  late.ranks = {1};
  late.supplement = 1;
  CHECK(commit_group(job.directory(), late, summary).committed.size() == 1);
  CHECK(containers(job).size() == 2);
  CHECK(std::filesystem::exists(job.out("mcr/set-a.{rank}.h5.launch-0.r1-1.s1.h5")));
}

TEST_CASE("a part that its writer takes back is left out") {
  StagedJob job(2);
  job.join(0);
  job.join(1);
  const auto stays = job.write(0, "a.0.h5", sample(0));
  const auto goes = job.write(1, "a.1.h5", sample(1));
  const auto taken = job.directory().withdraw(goes);
  REQUIRE(taken->has_value());
  Summary summary(job.directory());
  const auto done = commit_group(job.directory(), group_of_parts(job, 2, {stays, goes}), summary);
  CHECK(done.committed == std::vector<PartId>{stays});
  CHECK(done.failed.empty());
  CHECK(job.count(State::open) == 1);
}

TEST_CASE("a part that HDF5 cannot read comes back all the same") {
  StagedJob job(1);
  job.join(0);
  const std::string content = "this is no HDF5 file";
  const auto id = job.write(0, "a.0.h5", content);
  Summary summary(job.directory());
  CHECK(commit_group(job.directory(), group_of_parts(job, 1, {id}), summary).committed.size() == 1);
  REQUIRE(containers(job).size() == 1);
  CHECK(part_from(containers(job)[0], id) == content);
}

TEST_CASE("where storage refuses, the parts stay published and the trouble is said beside them") {
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.0.h5", sample(0));
  // The container's name leads nowhere: a file lies where the directory belongs.
  std::ofstream(job.out("mcr")) << "in the way";
  Summary summary(job.directory());
  const auto done = commit_group(job.directory(), group_of_parts(job, 1, {id}), summary);
  CHECK(done.committed.empty());
  CHECK(done.failed == std::vector<PartId>{id});
  CHECK(done.storage_failed);
  CHECK(job.count(State::published) == 1);
}
