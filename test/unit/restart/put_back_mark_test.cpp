// SPDX-License-Identifier: BSD-3-Clause
// Which marks are believed, and where they lead. A mark makes a program write into another file
// than the one that it has opened, so marks of other users must not count.
#include "restart/stage/put_back_mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "restart/stage/stub_file.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::restart {
namespace {

namespace fs = std::filesystem;

/// A stub with its mark, and the plain file that takes its place.
struct PutBack {
  ScratchDirectory scratch;
  PartId part = *PartId::random();
  File stub;

  PutBack() {
    Stub content;
    content.part = part;
    content.rank_count = 1;
    content.path = path("a.h5");
    content.launch = "L";
    content.masked_names = {path("a.h5")};
    content.container_directory = "mcr";
    stub = *File::open(AT_FDCWD, path("a.h5"), O_RDWR | O_CREAT, 0600);
    REQUIRE(stub.write_at(0, write_stub(content)));
    std::ofstream(path(".mcr-1.tmp")) << "plain";
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return scratch.path() + "/" + name;
  }
  void mark() const {
    struct stat native {};
    REQUIRE(::stat(path(".mcr-1.tmp").c_str(), &native) == 0);
    REQUIRE(mark_put_back(stub, part, FileIdentity(native)));
  }
  void exchange() const {
    fs::rename(path("a.h5"), path("x"));
    fs::rename(path(".mcr-1.tmp"), path("a.h5"));
    fs::rename(path("x"), path(".mcr-1.tmp"));
  }
  [[nodiscard]] std::string found() const {
    const auto native = find_put_back(stub);
    return native ? fs::path(present_path(*native)).filename().string() : "";
  }
};

/// Only root can make another user's file.
bool is_root() { return ::geteuid() == 0; }

}  // namespace

TEST_CASE("the plain file is found as soon as the names are exchanged, even if it was renamed") {
  const PutBack it;
  CHECK(it.found().empty());
  it.mark();
  CHECK(it.found().empty());
  it.exchange();
  CHECK(it.found() == "a.h5");
  fs::remove(it.path(".mcr-1.tmp"));
  CHECK(it.found() == "a.h5");
  fs::rename(it.path("a.h5"), it.path("b.h5"));
  CHECK(it.found() == "b.h5");
  fs::create_directory(it.path("far"));
  fs::rename(it.path("b.h5"), it.path("far/b.h5"));
  CHECK(it.found().empty());
}

TEST_CASE("a mark that another user may have made is not believed") {
  const PutBack it;
  it.mark();
  it.exchange();
  REQUIRE(it.found() == "a.h5");
  SECTION("the stub is another user's") {
    if (!is_root()) return;
    REQUIRE(::fchown(it.stub.descriptor(), 1001, 1001) == 0);
  }
  SECTION("the group may write to the stub") { REQUIRE(::fchmod(it.stub.descriptor(), 0660) == 0); }
  SECTION("all users may write to the stub") { REQUIRE(::fchmod(it.stub.descriptor(), 0606) == 0); }
  SECTION("the plain file is another user's") {
    if (!is_root()) return;
    REQUIRE(::chown(it.path("a.h5").c_str(), 1001, 1001) == 0);
  }
  SECTION("the stub has a name of the program") {
    fs::rename(it.path(".mcr-1.tmp"), it.path("copy.h5"));
  }
  CHECK(it.found().empty());
}

TEST_CASE("removing the mark restores the stub's times, which show whether it was read meanwhile") {
  const PutBack it;
  const struct timespec times[2] = {{1'000'000, 0}, {2'000'000, 0}};
  REQUIRE(::futimens(it.stub.descriptor(), times) == 0);
  struct stat native {};
  REQUIRE(::stat(it.path(".mcr-1.tmp").c_str(), &native) == 0);
  const auto mark = mark_put_back(it.stub, it.part, FileIdentity(native));
  REQUIRE(mark);
  const bool is_read = GENERATE(false, true);
  if (is_read) {
    struct timespec read[2]{};
    read[0].tv_nsec = UTIME_NOW;
    read[1].tv_nsec = UTIME_OMIT;
    REQUIRE(::futimens(it.stub.descriptor(), read) == 0);
  }
  REQUIRE(unmark_put_back(it.stub, *mark));
  const auto status = it.stub.status();
  CHECK(status->st_mtim.tv_sec == 2'000'000);
  CHECK((status->st_atim.tv_sec > status->st_mtim.tv_sec) == is_read);
  CHECK_FALSE(put_back_as(it.stub));
  CHECK(read_stub_file(it.stub)->part == it.part);
}

}  // namespace mcr::restart
