// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/stub_handles.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

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
    restart::Stub stub;
    stub.part = begin_.part;
    stub.masked_names = {directory() / "rank{rank}.h5"};
    stub.container_directory = "mcr";
    const Bytes bytes = restart::write_stub(stub);
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

}  // namespace

TEST_CASE("a directory that stayed where it was is its own place") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  CHECK(find_base(checkpoint.where(), checkpoint.begin(), &stubs).base == checkpoint.directory());
}

TEST_CASE("a renamed directory is followed, with the stub's descriptor and without") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  fs::rename(checkpoint.directory(), checkpoint.root() / "step1");
  for (const StubHandles* known :
       {static_cast<const StubHandles*>(&stubs), static_cast<const StubHandles*>(nullptr)}) {
    CHECK(find_base(checkpoint.where(), checkpoint.begin(), known).base ==
          checkpoint.root() / "step1");
  }
}

TEST_CASE("a new directory under the old name is not taken for the renamed one") {
  const Checkpoint checkpoint;
  fs::rename(checkpoint.directory(), checkpoint.root() / "step1");
  fs::create_directory(checkpoint.directory());
  CHECK(find_base(checkpoint.where(), checkpoint.begin(), nullptr).base ==
        checkpoint.root() / "step1");
}

TEST_CASE("a file that was moved elsewhere before its directory went is followed") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  fs::create_directories(checkpoint.root() / "far/away");
  fs::rename(checkpoint.begin().path, checkpoint.root() / "far/away/rank0000.h5");
  fs::remove(checkpoint.directory());
  CHECK(find_base(checkpoint.where(), checkpoint.begin(), &stubs).base ==
        checkpoint.root() / "far/away");
}

TEST_CASE("a file that the program removed is known to be removed only where it was seen before") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  fs::remove_all(checkpoint.directory());
  CHECK(find_base(checkpoint.where(), checkpoint.begin(), &stubs).removed);
  const BaseNow guessed = find_base(checkpoint.where(), checkpoint.begin(), nullptr);
  CHECK_FALSE(guessed.removed);
  CHECK(guessed.base.empty());
}

TEST_CASE("a stub that a newer file replaced does not make its part unwanted") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  std::ofstream(checkpoint.root() / "newer") << "newer";
  fs::rename(checkpoint.root() / "newer", checkpoint.begin().path);
  CHECK_FALSE(find_base(checkpoint.where(), checkpoint.begin(), &stubs).removed);
}

TEST_CASE("a part whose stub was renamed and then replaced under its new name stays wanted") {
  const Checkpoint checkpoint;
  StubHandles stubs;
  stubs.remember(checkpoint.begin());
  const fs::path final_name = checkpoint.directory() / "ckpt.0.h5";
  fs::rename(checkpoint.begin().path, final_name);
  std::ofstream(checkpoint.directory() / "newer") << "newer";
  fs::rename(checkpoint.directory() / "newer", final_name);
  CHECK_FALSE(find_base(checkpoint.where(), checkpoint.begin(), &stubs).removed);
  fs::remove(final_name);
  CHECK(find_base(checkpoint.where(), checkpoint.begin(), &stubs).removed);
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
  REQUIRE(find_base(checkpoint.where(), checkpoint.begin(), &stubs).removed);
  restart::SystemCalls calls = restart::real_system_calls();
  for (const int number : {EIO, ESTALE, EACCES, ETIMEDOUT}) {
    static int answer;
    answer = number;
    calls.fstatat = [](int, const char*, struct stat*, int) {
      errno = answer;
      return -1;
    };
    const restart::ReplacedSystemCalls replaced(calls);
    const BaseNow now = find_base(checkpoint.where(), checkpoint.begin(), &stubs);
    CHECK_FALSE(now.removed);
    CHECK(now.base == checkpoint.where().base);
  }
}
