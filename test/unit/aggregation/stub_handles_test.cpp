// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/stub_handles.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "aggregation/commit/stub_places.hpp"
#include "restart/base/system.hpp"
#include "restart/format/stub.hpp"
#include "test/support/catch.hpp"

using namespace mcr;
using namespace mcr::aggregation;
namespace fs = std::filesystem;

namespace {

/// A checkpoint directory with the stub of one part, as a rank leaves it.
class Checkpoint {
 public:
  Checkpoint() : root_(fs::temp_directory_path() / ("mcr-stubs-" + *name())) {
    fs::create_directories(directory());
    begin_.part = *restart::PartId::random();
    begin_.path = directory() / "rank0000.h5";
    struct stat status {};
    REQUIRE(::stat(directory().c_str(), &status) == 0);
    begin_.directory_device = status.st_dev;
    begin_.directory_inode = status.st_ino;
    begin_.begin_ns = restart::clock_ns(CLOCK_REALTIME);
    restart::Stub stub;
    stub.part = begin_.part;
    stub.masked_names = {directory() / "rank{rank}.h5"};
    stub.container_directory = "mcr";
    const Bytes bytes = restart::write_stub(stub);
    std::ofstream(begin_.path, std::ios::binary).flush();
    // A read and a write within one tick of the file system's clock cannot be told apart, and then the
    // part stays wanted.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ofstream(begin_.path, std::ios::binary)
        .write(as_text(bytes).data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~Checkpoint() { fs::remove_all(root_); }
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  [[nodiscard]] fs::path root() const { return root_; }
  [[nodiscard]] fs::path directory() const { return root_ / "step.tmp"; }
  [[nodiscard]] const restart::PartBegin& begin() const { return begin_; }
  [[nodiscard]] restart::ContainerName where() const {
    return restart::container_name((directory() / "rank{rank}.h5").string(), "mcr", "l", 0);
  }

 private:
  static std::optional<std::string> name() { return restart::PartId::random()->text(); }

  fs::path root_;
  restart::PartBegin begin_;
};

PlaceByNames names_of(const Checkpoint& checkpoint) {
  const auto far = restart::far_container_name(
      "/", (checkpoint.directory() / "rank{rank}.h5").string(), "mcr", "l", 0);
  return {checkpoint.where(), checkpoint.begin(), far.prefix, "mcr"};
}

/// Where a container of that part alone goes now.
Placement place_of(const Checkpoint& checkpoint, StubHandles* stubs) {
  LockedPart part;
  part.id = checkpoint.begin().part;
  part.journal.begin = checkpoint.begin();
  std::vector<LockedPart> parts;
  parts.push_back(std::move(part));
  return choose_place(names_of(checkpoint), find_stub_places(parts, stubs));
}
std::string base_of(const Checkpoint& checkpoint, StubHandles* stubs) {
  return place_of(checkpoint, stubs).where.base;
}

bool is_removed(const Checkpoint& checkpoint, StubHandles* stubs) {
  LockedPart part;
  part.id = checkpoint.begin().part;
  part.journal.begin = checkpoint.begin();
  std::vector<LockedPart> parts;
  parts.push_back(std::move(part));
  return find_stub_places(parts, stubs).front().kind == StubPlace::Kind::removed;
}

}  // namespace

TEST_CASE("a directory that stayed where it was is its own place") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  CHECK(base_of(checkpoint, &stubs) == checkpoint.directory());
  CHECK(base_of(checkpoint, nullptr) == checkpoint.directory());
}

TEST_CASE("a renamed directory is followed, with the stub's descriptor and without") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  fs::create_directories(checkpoint.root() / "archive");
  for (const char* name : {"step1", "archive/step1"}) {
    fs::rename(
        fs::exists(checkpoint.directory()) ? checkpoint.directory() : checkpoint.root() / "step1",
        checkpoint.root() / name);
    for (StubHandles* known : {&stubs, static_cast<StubHandles*>(nullptr)}) {
      const Placement place = place_of(checkpoint, known);
      CHECK(place.where.base == checkpoint.root() / name);
      CHECK(place.is_reached.front());
    }
  }
}

TEST_CASE("a new directory under the old name is not taken for the renamed one") {
  const Checkpoint checkpoint;
  fs::rename(checkpoint.directory(), checkpoint.root() / "step1");
  fs::create_directory(checkpoint.directory());
  CHECK(base_of(checkpoint, nullptr) == checkpoint.root() / "step1");
}

TEST_CASE("a file that was moved elsewhere before its directory went is followed") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  fs::create_directories(checkpoint.root() / "far/away");
  fs::rename(checkpoint.begin().path, checkpoint.root() / "far/away/rank0000.h5");
  fs::remove(checkpoint.directory());
  CHECK(base_of(checkpoint, &stubs) == checkpoint.root() / "far/away");
  CHECK(base_of(checkpoint, nullptr) == checkpoint.root() / "far/away");
}

TEST_CASE("a file that was linked and lost its first name is followed") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  fs::create_hard_link(checkpoint.begin().path, checkpoint.directory() / "second.h5");
  fs::remove(checkpoint.begin().path);
  CHECK(stubs.find(checkpoint.begin().part).path == checkpoint.directory() / "second.h5");
  fs::create_directories(checkpoint.root() / "far");
  fs::create_hard_link(checkpoint.directory() / "second.h5", checkpoint.root() / "far/third.h5");
  fs::remove_all(checkpoint.directory());
  CHECK(base_of(checkpoint, &stubs) == checkpoint.root() / "far");
}

TEST_CASE("a file that nothing leads to goes into a directory above, and that is said") {
  const Checkpoint checkpoint;
  fs::remove_all(checkpoint.directory());
  const Placement place = place_of(checkpoint, nullptr);
  CHECK(place.where.base == checkpoint.root());
  CHECK_FALSE(place.is_reached.front());
  CHECK(place.where.prefix.find("step.tmp") != std::string::npos);
}

TEST_CASE("a file that the program removed is known to be removed only where it was seen before") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  fs::remove_all(checkpoint.directory());
  CHECK(is_removed(checkpoint, &stubs));
  CHECK(is_removed(checkpoint, &stubs));  // looking is not reading
  CHECK_FALSE(is_removed(checkpoint, nullptr));
}

TEST_CASE("a file that was read before it was removed may have been copied, and is not dropped") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  fs::copy_file(checkpoint.begin().path, checkpoint.root() / "copy");
  // Whatever way the library copies.
  std::ifstream(checkpoint.begin().path).get();
  fs::remove_all(checkpoint.directory());
  CHECK_FALSE(is_removed(checkpoint, &stubs));
}

TEST_CASE(
    "a removal in a directory is over when none followed for a while, also of files committed long "
    "ago") {
  using namespace std::chrono_literals;
  Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  stubs.forget(checkpoint.begin().part);  // committed
  CHECK_FALSE(stubs.was_removed_from(checkpoint.directory(), 10s));
  fs::remove(checkpoint.begin().path);
  CHECK(stubs.was_removed_from(checkpoint.directory(), 10s));
  CHECK_FALSE(stubs.was_removed_from(checkpoint.root(), 10s));
  std::this_thread::sleep_for(100ms);
  CHECK_FALSE(stubs.was_removed_from(checkpoint.directory(), 20ms));
  std::ofstream(checkpoint.begin().path).flush();  // something took its name
  CHECK_FALSE(stubs.was_removed_from(checkpoint.directory(), 10s));
}

TEST_CASE(
    "a removed stub of a committed part takes no inode, because no descriptor of it is kept") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = descriptors();
  stubs.forget(checkpoint.begin().part);
  CHECK(descriptors() == before);
  fs::remove(checkpoint.begin().path);
  stubs.receive();  // as in each turn of the leader
  CHECK(descriptors() == before - 1);
  CHECK(stubs.was_removed_from(checkpoint.directory(), std::chrono::seconds(10)));
}

TEST_CASE("a stub that a newer file replaced does not make its part unwanted") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  std::ofstream(checkpoint.root() / "newer") << "newer";
  fs::rename(checkpoint.root() / "newer", checkpoint.begin().path);
  CHECK_FALSE(is_removed(checkpoint, &stubs));
  CHECK(base_of(checkpoint, &stubs) == checkpoint.directory());
}

TEST_CASE("a part whose stub was renamed and then replaced under its new name stays wanted") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  const fs::path final_name = checkpoint.directory() / "ckpt.0.h5";
  fs::rename(checkpoint.begin().path, final_name);
  std::ofstream(checkpoint.directory() / "newer") << "newer";
  fs::rename(checkpoint.directory() / "newer", final_name);
  CHECK_FALSE(is_removed(checkpoint, &stubs));
  fs::remove(final_name);
  CHECK(is_removed(checkpoint, &stubs));
}

TEST_CASE("another part's stub at the path is not remembered") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  restart::PartBegin other = checkpoint.begin();
  other.part = *restart::PartId::random();
  stubs.remember(other);
  CHECK(stubs.find(other.part).fate == StubHandles::Fate::unknown);
}

TEST_CASE("storage that does not answer has neither lost nor moved anything") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  fs::remove(checkpoint.begin().path);
  REQUIRE(is_removed(checkpoint, &stubs));
  restart::SystemCalls calls = restart::real_system_calls();
  for (const int number : {EIO, ESTALE, EACCES, ETIMEDOUT}) {
    static int answer;
    answer = number;
    calls.fstatat = [](int, const char*, struct stat*, int) {
      errno = answer;
      return -1;
    };
    const restart::ReplacedSystemCalls replaced(calls);
    CHECK_FALSE(is_removed(checkpoint, &stubs));
    CHECK(base_of(checkpoint, &stubs) == checkpoint.where().base);
  }
}

TEST_CASE("a directory that was made anew under the same path is not the stub's directory") {
  for (const bool is_read : {true, false}) {
    const Checkpoint checkpoint;
    StubHandles stubs;
    stubs.remember(checkpoint.begin());
    if (is_read) (void)std::ifstream(checkpoint.begin().path).get();
    fs::remove_all(checkpoint.directory());
    fs::create_directories(checkpoint.directory());
    std::ofstream(checkpoint.begin().path) << "a newer file";
    // Only if the stub may have been copied, its part is still wanted.
    CHECK(is_removed(checkpoint, &stubs) == !is_read);
    CHECK(base_of(checkpoint, &stubs) == checkpoint.root());
    CHECK(base_of(checkpoint, nullptr) == checkpoint.root());
    PlaceByNames names = names_of(checkpoint);
    names.where.base = checkpoint.directory() / "below";
    CHECK(place_above(names).base == checkpoint.root());
  }
}

TEST_CASE("files of one set in several directories share a container in the directory above them") {
  const Checkpoint first;
  const auto there = [&](const std::string& directory) {
    return StubPlace{StubPlace::Kind::here, directory};
  };
  const std::string root = first.root();
  fs::create_directories(root + "/a/b");
  const auto place = [&](const StubPlaces& places) {
    return choose_place(names_of(first), places);
  };
  const Placement shared = place({there(root + "/a"), there(root + "/a/b"), there(root + "/a")});
  CHECK(shared.where.directory == root + "/a/mcr");
  CHECK(shared.where.prefix != first.where().prefix);
  CHECK(shared.is_reached == std::vector<bool>(3, true));
  // A directory above that is not ours: readers know the old one by its path.
  const Placement old = place({there(root + "/a"), there("/somewhere")});
  CHECK(old.where.directory == first.directory() / "mcr");
  CHECK(old.is_reached == std::vector<bool>(2, true));
}
