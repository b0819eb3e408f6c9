// SPDX-License-Identifier: BSD-3-Clause
// From a stub to its part's bytes: which places are believed, and which are not.
#include "restart/open/open_part.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>

#include "restart/base/durable_replace.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/index.hpp"
#include "restart/stage/stage.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/one_part_container.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;
namespace fs = std::filesystem;

namespace {

constexpr const char* launch = "L1";

Bytes container_of(const PartId& part, std::uint32_t rank, const std::string& content,
                   const std::string& masked_name, const std::vector<BundledSet>& bundled = {}) {
  SetIdentity set;
  set.masked_name = masked_name;
  set.launch = launch;
  set.sequence = 7;
  set.rank_count = 8;
  set.bundled = bundled;
  return one_part_container(set, part, rank, "r.h5", content);
}

void put(const std::string& path, ByteSpan content) {
  fs::create_directories(fs::path(path).parent_path());
  REQUIRE(replace_file(AT_FDCWD, path, content, 0644, Durability::none));
}

/// A stub at <tree>/out/p3/r.h5, whose container should lie in <tree>/out/mcr.
struct Tree {
  ScratchDirectory scratch;
  std::string root = scratch / "tree";
  Stub stub;

  Tree() {
    stub.part = *PartId::random();
    stub.launch = launch;
    stub.sequence = 7;
    stub.rank = 3;
    stub.rank_count = 8;
    stub.masked_names = {root + "/out/p3/{rank}", root + "/out/p{rank}/r.h5"};
    stub.container_directory = "mcr";
    stub.launch_directory = scratch / "stage/n.L1";
    stub.path = root + "/out/p3/r.h5";
    put_stub(stub.path);
  }
  void put_stub(const std::string& path) const { put(path, write_stub(stub)); }
  [[nodiscard]] std::string container_path(const std::string& directory, std::uint32_t first = 0,
                                           std::uint32_t last = 7) const {
    const auto name = container_name(stub.masked_names[1], "mcr", launch, 7);
    return directory + "/" + name.prefix + container_suffix(first, last, {});
  }
  void put_container(const std::string& path, const std::string& content) const {
    put(path, container_of(stub.part, 3, content, stub.masked_names[1]));
  }
  [[nodiscard]] std::string read(const std::string& stub_path,
                                 const std::string& allow = "none") const {
    auto source = open_part(stub, stub_path, allow);
    if (!source) return "error: " + source.error().message;
    Bytes out((*source)->size());
    REQUIRE((*source)->read_at(0, out));
    return std::string(as_text(out));
  }
};

bool is_error(const std::string& answer) { return answer.starts_with("error: "); }

}  // namespace

TEST_CASE("a part is found in the container beside its stub, whichever candidate leads there") {
  const Tree tree;
  tree.put_container(tree.container_path(tree.root + "/out/mcr"), "in the container");
  CHECK(tree.read(tree.stub.path) == "in the container");
}

TEST_CASE("the part is read from the stage while the stage has it") {
  const Tree tree;
  tree.put_container(tree.container_path(tree.root + "/out/mcr"), "in the container");
  auto stage = LaunchDirectory::create(tree.scratch / "stage", "n", "L1");
  REQUIRE(stage);
  PartBegin begin;
  begin.part = tree.stub.part;
  {
    const auto bytes =
        File::open(stage->descriptor(), "parts/" + tree.stub.part.text(), O_RDWR | O_CREAT);
    REQUIRE(bytes);
    REQUIRE(bytes->write_at(0, as_bytes("in the stage")));
    const auto journal = stage->begin(begin);
    REQUIRE(journal);
    CHECK(tree.read(tree.stub.path) == "in the container");
    REQUIRE(stage->publish(begin.part, *journal, {12, 1, false, false, {}, {}}));
  }
  CHECK(tree.read(tree.stub.path) == "in the stage");
  REQUIRE(stage->mark_committed(begin.part));
  CHECK(tree.read(tree.stub.path) == "in the stage");
  {
    const auto source = open_part(tree.stub, tree.stub.path, "none");
    REQUIRE(source);
    Bytes out(5);
    CHECK_FALSE((*source)->read_at(8, out));
    CHECK_FALSE((*source)->read_at(~std::uint64_t{0}, out));
    CHECK((*source)->read_at(7, out));
    // The file of a part that is open is not reused, and stays readable after the part was freed.
    REQUIRE(stage->free_part(begin.part, 0));
    CHECK(as_text(out) == "stage");
    CHECK((*source)->read_at(0, out));
  }
  CHECK(tree.read(tree.stub.path) == "in the container");
}

TEST_CASE("a stage that is open to other users is not used") {
  const Tree tree;
  tree.put_container(tree.container_path(tree.root + "/out/mcr"), "in the container");
  auto stage = LaunchDirectory::create(tree.scratch / "stage", "n", "L1");
  REQUIRE(stage);
  PartBegin begin;
  begin.part = tree.stub.part;
  const auto journal = stage->begin(begin);
  REQUIRE(journal);
  put(stage->path() + "/parts/" + begin.part.text(), as_bytes("planted"));
  REQUIRE(stage->publish(begin.part, *journal, {7, 1, false, false, {}, {}}));
  CHECK(tree.read(tree.stub.path) == "planted");
  fs::permissions(tree.scratch / "stage", fs::perms::owner_all | fs::perms::others_write);
  CHECK(tree.read(tree.stub.path) == "in the container");
}

TEST_CASE("a tree that was moved as a whole is read at its new place") {
  const Tree tree;
  tree.put_container(tree.container_path(tree.root + "/out/mcr"), "moved");
  fs::rename(tree.root, tree.scratch / "elsewhere");
  CHECK(tree.read(tree.scratch / "elsewhere/out/p3/r.h5") == "moved");
}

TEST_CASE("a stub that was moved alone finds its container by the absolute path") {
  const Tree tree;
  tree.put_container(tree.container_path(tree.root + "/out/mcr"), "far away");
  fs::create_directories(tree.scratch / "other/place");
  fs::rename(tree.stub.path, tree.scratch / "other/place/moved.h5");
  CHECK(tree.read(tree.scratch / "other/place/moved.h5") == "far away");
  if (::geteuid() != 0) return;
  SECTION("unless the container is another user's") {
    REQUIRE(::chown(tree.container_path(tree.root + "/out/mcr").c_str(), 12345, 12345) == 0);
    CHECK(is_error(tree.read(tree.scratch / "other/place/moved.h5")));
    CHECK(tree.read(tree.scratch / "other/place/moved.h5", "/nowhere:" + tree.root) == "far away");
    CHECK(is_error(tree.read(tree.scratch / "other/place/moved.h5", tree.root + "/out/mc")));
  }
  SECTION("unless its directory is another user's") {
    REQUIRE(::chown((tree.root + "/out/mcr").c_str(), 12345, 12345) == 0);
    CHECK(is_error(tree.read(tree.scratch / "other/place/moved.h5")));
  }
  SECTION("unless the stub is another user's") {
    REQUIRE(::chown((tree.scratch / "other/place/moved.h5").c_str(), 12345, 12345) == 0);
    CHECK(is_error(tree.read(tree.scratch / "other/place/moved.h5")));
  }
}

TEST_CASE("a link to a stub leads to the container beside the stub") {
  const Tree tree;
  tree.put_container(tree.container_path(tree.root + "/out/mcr"), "linked");
  fs::rename(tree.root, tree.scratch / "elsewhere");
  fs::create_symlink(tree.scratch / "elsewhere/out/p3/r.h5", tree.scratch / "latest.h5");
  CHECK(tree.read(tree.scratch / "latest.h5") == "linked");
}

TEST_CASE("a container that does not list the part is not believed") {
  Tree tree;
  tree.put_container(tree.container_path(tree.root + "/out/mcr"), "of another writing");
  tree.stub.part = *PartId::random();
  const auto answer = open_part(tree.stub, tree.stub.path, "none");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().system_error == ENOENT);
  CHECK(answer.error().message.find("mcr recover") != std::string::npos);
  CHECK(answer.error().message.find(tree.stub.part.text()) != std::string::npos);
}

TEST_CASE("the container with the part is found, whatever ranks the containers' names claim") {
  const Tree tree;
  const std::string directory = tree.root + "/out/mcr";
  put(tree.container_path(directory, 0, 3),
      container_of(*PartId::random(), 3, "another part", tree.stub.masked_names[1]));
  tree.put_container(tree.container_path(directory, 4, 7), "the part");
  CHECK(tree.read(tree.stub.path) == "the part");
  SECTION("beside a damaged container") {
    put(tree.container_path(directory, 0, 7), as_bytes("not a container"));
    CHECK(tree.read(tree.stub.path) == "the part");
  }
}

TEST_CASE("if it is not known whether a container exists, the error says why") {
  const Tree tree;
  tree.put_container(tree.container_path(tree.root + "/out/mcr"), "the part");
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int next = ::dup(0);
  ::close(next);
  // The search needs more descriptors than are left.
  for (int left = 0; left < 2; ++left) {
    struct rlimit limit = before;
    limit.rlim_cur = static_cast<rlim_t>(next + left);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    const auto answer = open_part(tree.stub, tree.stub.path, "none");
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().system_error == EMFILE);
  }
  CHECK(tree.read(tree.stub.path) == "the part");
}

namespace {

/// A monotonic clock that goes on by `step` seconds whenever it is read.
class FastClock {
 public:
  explicit FastClock(time_t step) : replaced_(table()) { step_ = step; }

 private:
  static const SystemCalls& table() {
    static const SystemCalls fast = [] {
      SystemCalls calls = real_system_calls();
      calls.clock_gettime = [](clockid_t clock, struct timespec* time) {
        const int answer = real_system_calls().clock_gettime(clock, time);
        if (clock == CLOCK_MONOTONIC) time->tv_sec += passed_ += step_;
        return answer;
      };
      return calls;
    }();
    return fast;
  }
  static inline time_t step_ = 0;
  static inline time_t passed_ = 0;
  ReplacedSystemCalls replaced_;
};

}  // namespace

TEST_CASE("the search for a part ends after a minute, however many containers there are") {
  const Tree tree;
  const std::string directory = tree.root + "/out/mcr";
  for (std::uint32_t last = 10; last < 30; ++last)
    put(tree.container_path(directory, 0, last),
        container_of(*PartId::random(), 3, "another part", tree.stub.masked_names[1]));
  tree.put_container(tree.container_path(directory, 0, 30), "the part");
  SECTION("twenty containers in twenty seconds are not too many") {
    const FastClock clock(1);
    CHECK(tree.read(tree.stub.path) == "the part");
  }
  SECTION("twenty containers in two hundred seconds are too many") {
    const FastClock clock(10);
    const auto answer = open_part(tree.stub, tree.stub.path, "none");
    REQUIRE_FALSE(answer);
    CHECK(answer.error().system_error == ETIMEDOUT);
    CHECK(answer.error().message.find("could not all be examined in time") != std::string::npos);
  }
}

TEST_CASE("a damaged container is reported as damage") {
  const Tree tree;
  put(tree.container_path(tree.root + "/out/mcr"), as_bytes("not a container"));
  const auto answer = open_part(tree.stub, tree.stub.path, "none");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().cause == Cause::damaged);
  CHECK(answer.error().message.find("set-") != std::string::npos);
}

TEST_CASE("a stub cannot name a directory outside its tree") {
  Tree tree;
  tree.put_container(tree.container_path(tree.scratch / "secret"), "secret");
  for (const char* directory :
       {"/etc", "a/../../secret", "..", "../..", "", "mcr/", "//", "./../secret"}) {
    tree.stub.container_directory = directory;
    INFO(directory);
    CHECK(is_error(tree.read(tree.stub.path)));
  }
  tree.stub.container_directory = "mcr";
  tree.stub.launch = "../../../secret/x";
  CHECK(is_error(tree.read(tree.stub.path)));
  tree.stub.masked_names = {"", "/", "{rank}", "{rank}/{rank}", std::string(8000, '/'), "a\0b"};
  tree.stub.launch_directory = "relative";
  CHECK(is_error(tree.read(tree.stub.path)));
}

TEST_CASE("a part of one rank is found in a bundle of its block, whichever number the bundle has") {
  Tree tree;
  tree.stub.rank = 0;
  tree.stub.rank_count = 1;
  const std::string masked = tree.stub.path;
  tree.stub.masked_names = {masked};
  tree.put_stub(tree.stub.path);
  const auto name = bundle_name(masked, "mcr", launch, tree.stub.part);
  const auto put_bundle = [&](std::uint32_t number, const PartId& part, std::uint64_t sequence) {
    put(name.directory + "/" + name.prefix + bundle_suffix(number),
        container_of(part, 0, "bundle " + std::to_string(number), "pattern",
                     {{masked, sequence, 1, 1}}));
  };
  const PartId other = *PartId::random();
  SECTION("the second of two") {
    put_bundle(0, other, 7);
    put_bundle(1, tree.stub.part, 7);
    CHECK(tree.read(tree.stub.path) == "bundle 1");
  }
  SECTION("also if an earlier bundle is gone") {
    put_bundle(3, tree.stub.part, 7);
    CHECK(tree.read(tree.stub.path) == "bundle 3");
  }
  SECTION("not as the part of another writing") {
    put_bundle(0, tree.stub.part, 6);
    CHECK(is_error(tree.read(tree.stub.path)));
  }
  SECTION("not if the bundle is damaged, and the error says so") {
    put_bundle(0, tree.stub.part, 7);
    const auto file =
        File::open(AT_FDCWD, name.directory + "/" + name.prefix + bundle_suffix(0), O_RDWR);
    REQUIRE(file);
    REQUIRE(file->write_at(30, as_bytes("x")));
    CHECK(tree.read(tree.stub.path).find("does not match its checksum") != std::string::npos);
  }
}
