// SPDX-License-Identifier: BSD-3-Clause
// Which file still shows a part: its stub, as long as no program has begun to write the file anew.
#include "restart/stage/rewrite_mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "restart/base/system.hpp"
#include "restart/stage/put_back_mark.hpp"
#include "restart/stage/stub_file.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::restart {
namespace {

struct Written {
  ScratchDirectory scratch;
  LaunchDirectory launch = *LaunchDirectory::create(scratch.path() + "/stage", "node", "L");
  PartId part = *PartId::random();
  File file;

  Written() {
    Stub stub;
    stub.part = part;
    stub.launch = "L";
    stub.path = scratch.path() + "/a.h5";
    stub.masked_names = {stub.path};
    stub.container_directory = "mcr";
    stub.launch_directory = "/another/launch";
    file = *File::open(AT_FDCWD, stub.path, O_RDWR | O_CREAT, 0600);
    REQUIRE(write_stub_file(file, stub));
  }
  void mark() const { mark_rewritten(launch, file, *read_stub_file(file)); }
};

TEST_CASE("a stub shows its part until a program begins to write the file anew") {
  const Written written;
  CHECK(still_shows(written.file, written.part));
  CHECK_FALSE(still_shows(written.file, *PartId::random()));
  written.mark();
  CHECK_FALSE(still_shows(written.file, written.part));
  const auto stub = read_stub_file(written.file);
  REQUIRE(stub);
  CHECK(stub->part == written.part);
  CHECK(stub->is_rewritten);
  written.mark();
  CHECK(read_stub_file(written.file)->is_rewritten);
}

TEST_CASE("a program without mcr that empties or overwrites the file ends it, too") {
  const Written written;
  SECTION("emptied") { REQUIRE(written.file.truncate(0)); }
  SECTION("overwritten") {
    const std::string data(100, 'x');
    REQUIRE(written.file.write_at(0, as_bytes(data)));
  }
  CHECK_FALSE(still_shows(written.file, written.part));
}

TEST_CASE("a rewrite mark keeps size and times") {
  const Written written;
  const struct timespec past[2] = {{1000, 0}, {2000, 5}};
  REQUIRE(::futimens(written.file.descriptor(), past) == 0);
  const struct stat before = *written.file.status();
  written.mark();
  const struct stat after = *written.file.status();
  CHECK(after.st_size == before.st_size);
  CHECK(modified_ns(after) == modified_ns(before));
  CHECK(after.st_atim.tv_sec == before.st_atim.tv_sec);
}

TEST_CASE("a stub can have both marks") {
  const Written written;
  written.mark();
  const FileIdentity native{1, 2};
  REQUIRE(mark_put_back(written.file, written.part, native));
  CHECK(put_back_as(written.file) == native);
  CHECK_FALSE(still_shows(written.file, written.part));
}

TEST_CASE("a stub of this launch is marked only while its part is in the stage") {
  const Written written;
  Stub stub = *read_stub_file(written.file);
  stub.launch_directory = written.launch.path();
  REQUIRE(write_stub_file(written.file, stub));
  written.mark();
  CHECK(still_shows(written.file, written.part));
  PartBegin begin;
  begin.part = written.part;
  begin.path = stub.path;
  begin.launch = "L";
  REQUIRE(written.launch.begin(begin));
  written.mark();
  CHECK_FALSE(still_shows(written.file, written.part));
}

TEST_CASE("a stub that was written over meanwhile gets no mark for the older one") {
  const Written written;
  const Stub older = *read_stub_file(written.file);
  Stub newer = older;
  newer.part = *PartId::random();
  REQUIRE(write_stub_file(written.file, newer));
  mark_rewritten(written.launch, written.file, older);
  CHECK(still_shows(written.file, newer.part));
}

TEST_CASE("a stub without a text gets no mark and stays whole") {
  const Written written;
  const auto stub = *read_stub_file(written.file);
  REQUIRE(stub.text_offset);
  REQUIRE(written.file.truncate(*stub.text_offset));
  written.mark();
  CHECK(still_shows(written.file, written.part));
}

TEST_CASE("a later writing in the same file begins without a mark") {
  const Written written;
  written.mark();
  Stub stub = *read_stub_file(written.file);
  stub.part = *PartId::random();
  REQUIRE(write_stub_file(written.file, stub));
  CHECK(still_shows(written.file, stub.part));
}

}  // namespace
}  // namespace mcr::restart
