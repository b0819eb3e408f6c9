// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/retention.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "aggregation/commit/commit.hpp"
#include "aggregation/commit/set_files.hpp"
#include "restart/base/system.hpp"
#include "test/unit/aggregation/staged_job.hpp"

using namespace mcr;
using namespace mcr::aggregation;

namespace {

/// Writes the parts of these ranks as set number `sequence`, and commits them.
void commit_set(StagedJob& job, std::uint32_t rank_count, const std::vector<std::uint32_t>& ranks,
                std::uint64_t sequence, std::uint32_t supplement = 0, std::uint64_t begun_ns = 0) {
  DrainGroup group;
  group.drain = 1;
  group.set = {"launch", job.out("a.{rank}.h5"), sequence};
  group.rank_count = rank_count;
  group.ranks = ranks;
  group.supplement = supplement;
  group.begun_ns = begun_ns;
  for (const std::uint32_t rank : ranks) {
    group.parts.push_back(
        job.write(rank, "a." + std::to_string(rank) + ".h5", "bytes of no HDF5 file", sequence));
  }
  Summary summary(job.directory());
  REQUIRE(commit_group(job.directory(), group, summary).committed.size() == ranks.size());
}

std::vector<StoredSet> sets_of(const StagedJob& job) {
  std::vector<std::string> containers;
  for (const auto& entry : std::filesystem::directory_iterator(job.out("mcr"))) {
    if (entry.path().extension() == ".h5") containers.push_back(entry.path());
  }
  std::vector<Error> unreadable;
  return stored_sets(containers, unreadable);
}

/// Of one rank, the second in place of the first.
std::vector<StoredSet> a_set_and_its_successor(StagedJob& job) {
  job.join(0);
  commit_set(job, 1, {0}, 0);
  commit_set(job, 1, {0}, 1);
  return sets_of(job);
}

}  // namespace

TEST_CASE("a container under many names is read once") {
  StagedJob job(2);
  job.join(0);
  commit_set(job, 2, {0}, 0);
  const auto before = sets_of(job);
  REQUIRE(before.size() == 1);
  for (const char* name : {"set-x.r0-1.h5", "set-y.r0-1.h5"})
    std::filesystem::create_hard_link(before.front().containers.front(),
                                      job.out(std::string("mcr/") + name));
  const auto after = sets_of(job);
  REQUIRE(after.size() == 1);
  CHECK(after.front().containers.size() == 1);
  CHECK(after.front().container_bytes == before.front().container_bytes);
}

TEST_CASE("the newest whole set is found, and one with a rank missing is not it") {
  StagedJob job(2);
  job.join(0);
  job.join(1);
  commit_set(job, 2, {0, 1}, 0);
  commit_set(job, 2, {0}, 1);
  auto sets = sets_of(job);
  REQUIRE(sets.size() == 2);
  REQUIRE(newest_whole(sets) != nullptr);
  CHECK(newest_whole(sets)->name.sequence == 0);
  commit_set(job, 2, {1}, 1, 1);  // the late part
  sets = sets_of(job);
  CHECK(newest_whole(sets)->name.sequence == 1);
  CHECK(newest_whole(sets)->containers.size() == 2);
}

TEST_CASE(
    "of one name within a launch the later writing is the newer set, whatever the clock said") {
  StagedJob job(1);
  job.join(0);
  commit_set(job, 1, {0}, 0, 0, 5'000'000'000);
  commit_set(job, 1, {0}, 1, 0, 4'000'000'000);
  const auto sets = sets_of(job);
  REQUIRE(sets.size() == 2);
  CHECK(sets.back().name.sequence == 1);
  CHECK(Replacements(sets).of(sets.front(), false) == &sets.back());
}

TEST_CASE("a set is superseded when no stub names it and a newer one is whole") {
  StagedJob job(2);
  job.join(0);
  job.join(1);
  commit_set(job, 2, {0, 1}, 0);
  CHECK(superseded(sets_of(job))->orders.empty());
  commit_set(job, 2, {0}, 1);
  CHECK(superseded(sets_of(job))->orders.empty());  // rank 1's stub is the old one
  commit_set(job, 2, {1}, 1, 1);
  auto sets = sets_of(job);
  REQUIRE(superseded(sets)->orders.size() == 1);
  CHECK(superseded(sets)->orders.front().set->name.sequence == 0);
}

namespace {

/// While it lives, one file cannot be read (EIO).
class Unreadable {
 public:
  explicit Unreadable(const std::string& path) : replaced_(table()) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    file_ = status.st_ino;
  }

 private:
  static const restart::SystemCalls& table() {
    static const restart::SystemCalls failing = [] {
      restart::SystemCalls calls = restart::real_system_calls();
      calls.pread = [](int descriptor, void* out, std::size_t bytes, off_t offset) -> ssize_t {
        struct stat status {};
        if (::fstat(descriptor, &status) != 0 || status.st_ino != file_)
          return restart::real_system_calls().pread(descriptor, out, bytes, offset);
        errno = EIO;
        return -1;
      };
      return calls;
    }();
    return failing;
  }
  static inline ino_t file_ = 0;
  restart::ReplacedSystemCalls replaced_;
};

}  // namespace

TEST_CASE("no set is superseded while a stub cannot be read") {
  StagedJob job(1);
  job.join(0);
  commit_set(job, 1, {0}, 0);
  std::filesystem::copy_file(job.out("a.0.h5"), job.out("copy.h5"));
  commit_set(job, 1, {0}, 1);
  const auto sets = sets_of(job);
  CHECK(superseded(sets)->orders.empty());
  {
    const Unreadable copy(job.out("copy.h5"));
    const auto found = superseded(sets);
    CHECK((!found || found->orders.empty()));
  }
  std::filesystem::remove(job.out("copy.h5"));
  CHECK(superseded(sets)->orders.size() == 1);
}

TEST_CASE("a set that does not read is neither whole nor superseded") {
  StagedJob job(1);
  job.join(0);
  commit_set(job, 1, {0}, 0);
  for (const auto& entry : std::filesystem::directory_iterator(job.out("mcr"))) {
    std::filesystem::resize_file(entry.path(), 100);
  }
  const auto sets = sets_of(job);
  CHECK(newest_whole(sets) == nullptr);
  CHECK(superseded(sets)->orders.empty());
}

TEST_CASE("a set is removed only where it was looked at: in that directory, of those files") {
  namespace fs = std::filesystem;
  StagedJob job(1);
  const auto sets = a_set_and_its_successor(job);
  const auto orders = superseded(sets)->orders;
  REQUIRE(orders.size() == 1);
  const auto containers_below = [](const std::string& path) {
    return std::count_if(fs::directory_iterator(path), fs::directory_iterator(),
                         [](const auto& entry) { return entry.path().extension() == ".h5"; });
  };
  const std::string home = job.out("mcr");
  fs::rename(home, job.out("moved"));
  fs::copy(job.out("moved"), job.out("copy"), fs::copy_options::recursive);

  fs::create_directory_symlink(job.out("copy"), home);
  CHECK(!remove_set(orders.front()).has_value());
  fs::remove(home);
  fs::rename(job.out("copy"), home);
  CHECK(!remove_set(orders.front()).has_value());
  CHECK(containers_below(home) == 2);

  fs::rename(home, job.out("copy"));
  fs::rename(job.out("moved"), home);
  const std::string container = orders.front().set->containers.front();
  fs::rename(container, container + ".aside");
  fs::copy(container + ".aside", container);
  CHECK(!remove_set(orders.front()).has_value());
  CHECK(fs::exists(container));

  fs::rename(container + ".aside", container);
  CHECK(remove_set(orders.front()).has_value());
  CHECK(containers_below(home) == 1);
}

TEST_CASE("what may go is looked for only in the directory in which the containers were read") {
  namespace fs = std::filesystem;
  StagedJob job(1);
  const auto sets = a_set_and_its_successor(job);
  REQUIRE(superseded(sets)->orders.size() == 1);
  // Another directory lies at the path, and has no stubs.
  const fs::path base = fs::path(job.out("mcr")).parent_path();
  const fs::path moved = base.parent_path() / "moved";
  fs::rename(base, moved);
  fs::create_directory(base);
  CHECK_FALSE(superseded(sets).has_value());
  CHECK_FALSE(sets.front().parts.front().open().has_value());
  fs::remove_all(base);
  fs::rename(moved, base);
  CHECK(superseded(sets)->orders.size() == 1);
}
