// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/collection.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "aggregation/commit/commit.hpp"
#include "aggregation/commit/retention.hpp"
#include "aggregation/commit/set_files.hpp"
#include "restart/base/system.hpp"
#include "restart/sets/stub_links.hpp"
#include "test/unit/aggregation/staged_job.hpp"

using namespace mcr;
using namespace mcr::aggregation;
using restart::system_calls;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t ranks = 2;

/// The process stops before its n-th call that changes something.
long calls_left = 0;
void count_down() {
  if (calls_left-- == 0) ::_exit(1);
}
const restart::SystemCalls& stopping() {
  static const restart::SystemCalls table = [] {
    restart::SystemCalls calls = restart::real_system_calls();
    calls.unlinkat = [](int directory, const char* name, int flags) {
      count_down();
      return restart::real_system_calls().unlinkat(directory, name, flags);
    };
    calls.write = [](int descriptor, const void* data, std::size_t bytes) {
      count_down();
      return restart::real_system_calls().write(descriptor, data, bytes);
    };
    calls.fsync = [](int descriptor) {
      count_down();
      return restart::real_system_calls().fsync(descriptor);
    };
    return calls;
  }();
  return table;
}

class OldSets : public StagedJob {
 public:
  OldSets() : StagedJob(ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) join(rank);
  }

  [[nodiscard]] std::string path(std::uint32_t rank) const {
    return out("a." + std::to_string(rank) + ".h5");
  }

  /// Written and committed; with links to the stubs, as gc=on makes them.
  void commit(std::uint64_t sequence, const std::vector<std::uint32_t>& writers) {
    DrainGroup group;
    group.drain = 1;
    group.set = {"launch", out("a.{rank}.h5"), sequence};
    group.rank_count = ranks;
    group.ranks = writers;
    begin_ns = restart::clock_ns(CLOCK_REALTIME) + sequence * 1'000'000'000;
    for (const std::uint32_t rank : writers) {
      fs::remove(path(rank));
      group.parts.push_back(write(rank, "a." + std::to_string(rank) + ".h5", "bytes", sequence));
      const auto stub = restart::File::open(AT_FDCWD, path(rank), O_RDONLY);
      REQUIRE(restart::link_stub(out("mcr"), group.parts.back(), *stub, path(rank)));
    }
    Summary summary(directory());
    REQUIRE(commit_group(directory(), group, summary).committed.size() == writers.size());
  }

  [[nodiscard]] CommittedSet committed(std::uint64_t sequence) const {
    struct stat status {};
    REQUIRE(::stat(out("mcr").c_str(), &status) == 0);
    return {restart::container_name(out("a.{rank}.h5"), "mcr", "launch", sequence),
            restart::FileIdentity(status), 0, ranks, true};
  }

  [[nodiscard]] std::vector<StoredSet> sets() const {
    std::vector<std::string> containers;
    for (const auto& entry : fs::directory_iterator(out("mcr"))) {
      if (entry.path().extension() == ".h5") containers.push_back(entry.path());
    }
    std::vector<Error> unreadable;
    auto found = stored_sets(containers, unreadable);
    CHECK(unreadable.empty());
    return found;
  }
  [[nodiscard]] std::vector<std::uint64_t> sequences() const {
    std::vector<std::uint64_t> found;
    for (const StoredSet& set : sets()) found.push_back(set.name.sequence);
    return found;
  }
  [[nodiscard]] std::size_t links() const {
    return restart::StubLinks::list(out("mcr"))->parts().size();
  }
};

using Sequences = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a set that the program has given up goes with its links when a newer one is whole") {
  OldSets job;
  job.commit(0, {0, 1});
  job.commit(1, {0, 1});
  CHECK(collect_after(job.committed(1))->size() == 1);
  CHECK(job.sequences() == Sequences{1});
  CHECK(job.links() == ranks);
}

TEST_CASE("the last whole set stays while the newer one lacks a rank, though nobody names it") {
  OldSets job;
  job.commit(0, {0, 1});
  job.commit(1, {0});
  fs::remove(job.path(1));
  CHECK(collect_after(job.committed(1))->empty());
  CHECK(job.sequences() == Sequences{0, 1});
}

TEST_CASE("a stub under another name, or a copy at its own path, keeps the set") {
  OldSets job;
  job.commit(0, {0, 1});
  SECTION("a link") { fs::create_hard_link(job.path(0), job.out("saved.h5")); }
  SECTION("a copy that was put back") { fs::copy_file(job.path(0), job.out("saved.h5")); }
  job.commit(1, {0, 1});
  if (fs::hard_link_count(job.out("saved.h5")) == 1)
    fs::copy_file(job.out("saved.h5"), job.path(0), fs::copy_options::overwrite_existing);
  CHECK(collect_after(job.committed(1))->empty());
  CHECK(job.sequences() == Sequences{0, 1});
}

TEST_CASE("links that are copies of links prove nothing") {
  OldSets job;
  job.commit(0, {0, 1});
  job.commit(1, {0, 1});
  const fs::path links = job.out("mcr/set-stubs");
  fs::copy(links, job.out("mcr/copied"));
  fs::remove_all(links);
  fs::rename(job.out("mcr/copied"), links);
  CHECK(collect_after(job.committed(1))->empty());
  CHECK(job.sequences() == Sequences{0, 1});
}

TEST_CASE("a set with a container that does not read stays") {
  OldSets job;
  job.commit(0, {0, 1});
  job.commit(1, {0, 1});
  for (const auto& entry : fs::directory_iterator(job.out("mcr"))) {
    if (entry.path().filename().string().find("launch-0.") != std::string::npos)
      fs::resize_file(entry.path(), 600);
  }
  CHECK(collect_after(job.committed(1))->empty());
}

TEST_CASE(
    "a crash before any step of a collection leaves the whole set, and the next one ends it") {
  for (long stop = 0;; ++stop) {
    OldSets job;
    job.commit(0, {0, 1});
    job.commit(1, {0, 1});
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      calls_left = stop;
      const restart::ReplacedSystemCalls replaced(stopping());
      (void)collect_after(job.committed(1)).has_value();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const auto sets = job.sets();
    const StoredSet* const newest = newest_whole(sets);
    REQUIRE(newest != nullptr);
    CHECK(newest->name.sequence == 1);
    REQUIRE(collect_after(job.committed(1)));
    CHECK(job.sequences() == Sequences{1});
    if (WEXITSTATUS(status) == 0) {
      CHECK(stop > 3);
      break;
    }
  }
}
