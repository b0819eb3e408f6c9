// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/collection.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "aggregation/commit/commit.hpp"
#include "aggregation/commit/retention.hpp"
#include "aggregation/commit/set_files.hpp"
#include "restart/base/system.hpp"
#include "restart/sets/decision.hpp"
#include "restart/sets/native_members.hpp"
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
  void commit(std::uint64_t sequence, const std::vector<std::uint32_t>& writers,
              const std::string& masked_name = "a.{rank}.h5") {
    DrainGroup group;
    group.drain = 1;
    group.set = {"launch", out(masked_name), sequence};
    group.rank_count = ranks;
    group.ranks = writers;
    begin_ns = restart::clock_ns(CLOCK_REALTIME) + sequence * 1'000'000'000;
    for (const std::uint32_t rank : writers) {
      fs::remove(path(rank));
      group.parts.push_back(write(rank, "a." + std::to_string(rank) + ".h5", "bytes", sequence));
      const auto stub = restart::File::open(AT_FDCWD, path(rank), O_RDONLY);
      REQUIRE(restart::link_stub(out(container_dir), group.parts.back(), *stub, path(rank)));
    }
    Summary summary(directory());
    REQUIRE(commit_group(directory(), group, summary).committed.size() == writers.size());
  }

  [[nodiscard]] CommittedSet committed(std::uint64_t sequence) const {
    struct stat status {};
    REQUIRE(::stat(out(container_dir).c_str(), &status) == 0);
    return {restart::container_name(out("a.{rank}.h5"), container_dir, "launch", sequence),
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

  std::string container_dir = "mcr";  ///< also in `settings`
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

TEST_CASE(
    "links in a directory to which users may write who may not remove containers prove nothing") {
  OldSets job;
  job.commit(0, {0, 1});
  job.commit(1, {0, 1});
  REQUIRE(::chmod(job.out("mcr").c_str(), 0755) == 0);
  REQUIRE(::chmod(job.out("mcr/set-stubs").c_str(), 01777) == 0);
  CHECK(collect_after(job.committed(1))->empty());
  CHECK_FALSE(superseded(job.sets()));  // they could hide stubs there, too
  CHECK(job.sequences() == Sequences{0, 1});
}

TEST_CASE("a file that is no stub of its part does not show that the part is given up") {
  OldSets job;
  job.commit(0, {0, 1});
  job.commit(1, {0, 1});
  for (const auto& link : fs::directory_iterator(job.out("mcr/set-stubs"))) {
    if (fs::hard_link_count(link) == 1) std::ofstream(link.path()) << "no stub";
  }
  CHECK(collect_after(job.committed(1))->empty());
  CHECK(job.sequences() == Sequences{0, 1});
}

TEST_CASE("no set is removed by a collection if the newest set has no links") {
  OldSets job;
  job.commit(0, {0, 1});
  job.commit(1, {0, 1});
  for (const auto& link : fs::directory_iterator(job.out("mcr/set-stubs"))) {
    if (fs::hard_link_count(link) == 2) fs::remove(link);
  }
  CHECK(collect_after(job.committed(1))->empty());
  CHECK(job.sequences() == Sequences{0, 1});
}

TEST_CASE("mcr gc keeps a set whose links are given up if a copy of a stub lies below the base") {
  OldSets job;
  job.commit(0, {0, 1});
  fs::copy_file(job.path(0), job.out("copy.h5"));
  job.commit(1, {0, 1});
  CHECK(superseded(job.sets())->orders.empty());
  fs::remove(job.out("copy.h5"));
  CHECK(superseded(job.sets())->orders.size() == 1);
}

namespace {

/// A native file of set 0 that was kept aside, with its note, and a file of another name with a note.
struct KeptAside {
  std::string file;
  std::string other;
};
KeptAside keep_aside(const OldSets& job, const std::string& masked_name = "a.{rank}.h5") {
  restart::Stub stub;
  stub.part = PartId::parse("00112233445566778899aabbccddeeff").value();
  stub.launch = "launch";
  stub.rank_count = ranks;
  stub.masked_names = {job.out(masked_name)};
  stub.container_directory = job.container_dir;
  stub.path = job.out("old.h5");
  const auto directory = restart::File::open(AT_FDCWD, job.out(""), O_RDONLY | O_DIRECTORY);
  REQUIRE(directory);
  std::ofstream(stub.path) << "native";
  struct stat status {};
  REQUIRE(::stat(stub.path.c_str(), &status) == 0);
  REQUIRE(restart::note_native(*directory, job.container_dir, stub, status.st_ino));
  const std::string home = job.out(job.container_dir + "/set-natives/");
  KeptAside kept{home + restart::aside_name(status.st_ino), home + "thesis"};
  fs::rename(stub.path, kept.file);
  std::ofstream(kept.other) << "not a part of a set";
  fs::copy_file(kept.file + ".stub", kept.other + ".stub");
  return kept;
}

}  // namespace

TEST_CASE("a native file that was kept aside is removed, and no file of another name") {
  OldSets job;
  job.commit(0, {0, 1});
  const KeptAside kept = keep_aside(job);
  job.commit(1, {0, 1});
  SECTION("only this user may write to their directory") {
    REQUIRE(collect_after(job.committed(1)));
    CHECK_FALSE(fs::exists(kept.file));
  }
  SECTION("others may write to it who may not remove the containers") {
    REQUIRE(::chmod(job.out("mcr").c_str(), 0755) == 0);
    REQUIRE(::chmod(job.out("mcr/set-natives").c_str(), 01777) == 0);
    REQUIRE(collect_after(job.committed(1)));
    CHECK(fs::exists(kept.file));
  }
  CHECK(fs::exists(kept.other));
}

TEST_CASE("with container_dir=../NAME, what belongs to another directory's set is not removed") {
  OldSets job;
  job.container_dir = "../mcr";
  job.settings = "container_dir=../mcr";
  const std::string other = "../step/a.{rank}.h5";
  fs::create_directory(job.out("../step"));
  const bool is_others = GENERATE(false, true);
  const KeptAside kept = keep_aside(job, is_others ? other : "a.{rank}.h5");
  const auto decision_of = [&](const std::string& directory) {
    return job.out("../mcr/" +
                   restart::decision_name("set-" + directory + "+a.{rank}.h5.restart-0."));
  };
  // Sequence 0: the decision chose the other directory's set. Its containers have the same names as those of
  // this directory's sets.
  job.commit(0, {0, 1}, other);
  const std::uint64_t chosen = GENERATE(0U, 7U);
  for (const char* directory : {"out", "step"}) {
    const std::string place = decision_of(directory);
    REQUIRE(restart::record_decision(job.out("../mcr"), fs::path(place).filename(),
                                     {false, {"launch", chosen}, {"launch", chosen}}));
  }
  job.commit(1, {0, 1}, other);
  job.commit(1, {0, 1});
  REQUIRE(collect_after(job.committed(1)));
  CHECK(fs::exists(kept.file) == is_others);
  CHECK(fs::exists(decision_of("step")));
  CHECK_FALSE(fs::exists(decision_of("out")));
}

namespace {

/// Storage is full until a container is removed.
bool is_full = true;
const restart::SystemCalls& full() {
  static const restart::SystemCalls table = [] {
    restart::SystemCalls calls = restart::real_system_calls();
    calls.write = [](int descriptor, const void* data, std::size_t bytes) -> ssize_t {
      if (!is_full) return restart::real_system_calls().write(descriptor, data, bytes);
      errno = ENOSPC;
      return -1;
    };
    calls.unlinkat = [](int directory, const char* name, int flags) {
      is_full &= !std::string(name).ends_with(".h5");
      return restart::real_system_calls().unlinkat(directory, name, flags);
    };
    return calls;
  }();
  return table;
}

}  // namespace

TEST_CASE("on full storage, the log of removed sets gets its line after the removal") {
  OldSets job;
  job.commit(0, {0, 1});
  job.commit(1, {0, 1});
  {
    is_full = true;
    const restart::ReplacedSystemCalls replaced(full());
    CHECK(collect_after(job.committed(1))->size() == 1);
  }
  std::ifstream log(job.out("mcr/set-removed.log"));
  const std::string text(std::istreambuf_iterator<char>(log), {});
  CHECK(text.find(" set-a.{rank}.h5.launch-0.* removed") != std::string::npos);
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
