// SPDX-License-Identifier: BSD-3-Clause
// A captured file from its create to its end, without HDF5 and without a leader, so that the test
// takes only seconds.
#include "vol/capture/staged_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "restart/stage/put_back_mark.hpp"
#include "restart/stage/stub_file.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"
#include "vol/capture/capture_plan.hpp"
#include "vol/capture/part_begin.hpp"
#include "vol/capture/resolved_path.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/process.hpp"

using namespace mcr;
using namespace mcr::vol;
namespace fs = std::filesystem;

namespace {

using State = restart::LaunchDirectory::State;

/// A job of two ranks, with files in out/; this process is one of the ranks.
class Job {
 public:
  Job() { fs::create_directories(out()); }

  [[nodiscard]] std::string out(const std::string& name = {}) const {
    const std::string directory = fs::canonical(scratch_.path()).string() + "/out";
    return name.empty() ? directory : directory + "/" + name;
  }
  [[nodiscard]] std::shared_ptr<StagedFile> create(const std::string& name) {
    CapturePlan plan;
    plan.settings = *settings_at(out(name));
    plan.path_as_passed = out(name);
    plan.place = *resolve_path(out(name));
    plan.writing = writing_of(plan.path_as_passed, plan.place);
    plan.masked_names = {out("a.{rank}.h5")};
    plan.stage = &stage_;
    auto file = StagedFile::create(plan);
    REQUIRE(file);
    return *file;
  }
  /// Writes and closes a file with these bytes.
  void write(const std::string& name, const std::string& bytes) {
    const auto file = create(name);
    REQUIRE(file->write(0, as_bytes(bytes)));
    REQUIRE(file->finish());
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ifstream in(out(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Returns the bytes of the published part that the stub at that name leads to; "none" if there
  /// is no such part.
  [[nodiscard]] std::string published(const std::string& name) const {
    const auto file = restart::File::open(AT_FDCWD, out(name), O_RDONLY);
    const auto stub = file ? restart::read_stub_file(*file) : Result<restart::Stub>(file.error());
    const auto bytes =
        stub ? stage_.directory.open_bytes(stub->part) : Result<restart::File>(stub.error());
    if (!bytes) return "none";
    const auto content = bytes->read_all(1 << 24);
    REQUIRE(content);
    return std::string(as_text(*content));
  }
  [[nodiscard]] std::size_t parts(State state) const {
    return stage_.directory.list(state)->size();
  }

 private:
  static restart::Launcher launcher() {
    restart::Launcher who;
    who.launch = "launch";
    who.node = "node";
    who.rank_count = 2;
    return who;
  }
  [[nodiscard]] restart::LaunchDirectory::Entered enter() const {
    auto entered = restart::LaunchDirectory::enter(scratch_ / "stage", "node", "launch", 0, 2,
                                                   restart::Entering::waits);
    REQUIRE(entered);
    return std::move(*entered);
  }

  restart::ScratchDirectory scratch_;
  JobStage stage_{enter(), launcher(), scratch_ / "stage"};
};

const std::string large(200'000, 'l');

}  // namespace

TEST_CASE("a closed file is a published part and a stub, small or large") {
  Job job;
  for (const std::string& bytes : {std::string("small"), large}) {
    job.write("a.0.h5", bytes);
    CHECK((job.published("a.0.h5") == bytes));
  }
  CHECK(job.parts(State::open) == 0);
}

TEST_CASE("the old file stays at the path until the close, and forever if no close comes") {
  Job job;
  std::ofstream(job.out("a.0.h5")) << "old";
  {
    const auto file = job.create("a.0.h5");
    REQUIRE(file->write(0, as_bytes(large)));
    CHECK(job.text("a.0.h5") == "old");
    Bytes back(large.size());
    REQUIRE(file->read(0, back));
    CHECK((as_text(back) == large));
  }
  CHECK(job.text("a.0.h5") == "old");
  job.write("a.0.h5", "new");
  CHECK(job.published("a.0.h5") == "new");
}

TEST_CASE("a flushed file has its stub, and later writes reach the part") {
  Job job;
  auto file = job.create("a.0.h5");
  REQUIRE(file->write(0, as_bytes("first")));
  REQUIRE(file->flush());
  CHECK(restart::is_stub_file(*restart::File::open(AT_FDCWD, job.out("a.0.h5"), O_RDONLY)));
  REQUIRE(file->write(5, as_bytes(" and second")));
  REQUIRE(file->finish());
  file.reset();  // releases the writer's lock
  CHECK(job.published("a.0.h5") == "first and second");
}

TEST_CASE("a spilled file is complete at its path, with or without an old file at the path") {
  Job job;
  for (const bool replaces : {false, true}) {
    const std::string name = replaces ? "b.0.h5" : "a.0.h5";
    if (replaces) std::ofstream(job.out(name)) << "old";
    const auto file = job.create(name);
    REQUIRE(file->write(0, as_bytes(large)));
    REQUIRE(file->spill(mcr::restart::NativeReason::stage_full, "the test says so"));
    if (replaces) CHECK(job.text(name) == "old");
    REQUIRE(file->write(large.size(), as_bytes("end")));
    REQUIRE(file->finish());
    CHECK((job.text(name) == large + "end"));
  }
}

TEST_CASE("a renamed file is published under its new name, and a removed file is dropped") {
  Job job;
  auto renamed = job.create("a.0.h5");
  REQUIRE(renamed->write(0, as_bytes("bytes")));
  fs::rename(job.out("a.0.h5"), job.out("b.0.h5"));
  REQUIRE(renamed->finish());
  renamed.reset();
  CHECK(job.published("b.0.h5") == "bytes");
  CHECK_FALSE(fs::exists(job.out("a.0.h5")));

  std::ofstream(job.out("c.0.h5")) << "old";
  const auto removed = job.create("c.0.h5");
  REQUIRE(removed->write(0, as_bytes(large)));
  REQUIRE(removed->spill(mcr::restart::NativeReason::stage_full, "the test says so"));
  fs::remove_all(job.out());
  CHECK(removed->finish());
  CHECK_FALSE(fs::exists(job.out()));
}

TEST_CASE(
    "a file that is written again while the leader puts the old part back replaces the plain "
    "file") {
  Job job;
  job.write("a.0.h5", "old");
  const std::string leaves = GENERATE("never", "before", "after");
  auto file = job.create("a.0.h5");
  REQUIRE(file->write(0, as_bytes(large)));
  if (leaves == "before")
    REQUIRE(file->spill(mcr::restart::NativeReason::stage_full, "the test says so"));
  // Do what put_back() does: make the plain file under another name, mark the stub, exchange the
  // names.
  std::ofstream(job.out("native")) << "old";
  struct stat native {};
  REQUIRE(::stat(job.out("native").c_str(), &native) == 0);
  const auto stub = restart::File::open(AT_FDCWD, job.out("a.0.h5"), O_RDWR);
  REQUIRE(restart::mark_put_back(*stub, restart::read_stub_file(*stub)->part,
                                 restart::FileIdentity(native)));
  fs::rename(job.out("a.0.h5"), job.out(".mcr-part.tmp"));
  fs::rename(job.out("native"), job.out("a.0.h5"));
  fs::remove(job.out(".mcr-part.tmp"));
  if (leaves == "after")
    REQUIRE(file->spill(mcr::restart::NativeReason::stage_full, "the test says so"));
  REQUIRE(file->finish());
  file.reset();
  CHECK(((leaves == "never" ? job.published("a.0.h5") : job.text("a.0.h5")) == large));
}
