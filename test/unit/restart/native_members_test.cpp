// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/native_members.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <sstream>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

/// A native file `out/rank0/a.h5` and its directory.
struct Member {
  Member() {
    for (const char* made : {"out", "out/rank0"})
      REQUIRE(::mkdirat(root.descriptor(), made, 0755) == 0);
    REQUIRE(write("old"));
  }
  bool write(const std::string& content) const {
    const auto file = File::open(root.descriptor(), "out/rank0/a.h5",
                                 O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
    return file && file->write_at(0, as_bytes(content)).has_value();
  }
  [[nodiscard]] File directory() const {
    return *File::open(root.descriptor(), "out/rank0", O_PATH | O_DIRECTORY);
  }
  [[nodiscard]] struct stat status() const {
    struct stat status {};
    REQUIRE(::fstatat(root.descriptor(), "out/rank0/a.h5", &status, AT_SYMLINK_NOFOLLOW) == 0);
    return status;
  }
  [[nodiscard]] std::string path() const { return place.path() + "/out/rank0/a.h5"; }
  [[nodiscard]] Stub stub() const {
    Stub stub;
    stub.part = *PartId::random();
    stub.launch = "launch";
    stub.rank_count = 2;
    stub.masked_names = {place.path() + "/out/rank{rank}/a.h5"};
    stub.container_directory = "mcr";
    stub.path = path();
    stub.launch_directory = place.path() + "/stage/node.launch";
    return stub;
  }
  /// Makes a complete note: the file is a part of a set, and was closed.
  void note() const { note(stub()); }
  void note(const Stub& stub) const {
    REQUIRE(note_native(directory(), "../mcr", stub, status().st_ino));
    complete_note(place.path() + "/out/mcr", stub.part, status());
  }

  ScratchDirectory place;
  File root = *File::open(AT_FDCWD, place.path(), O_PATH | O_DIRECTORY);
};

std::string note_number(const Member& member) {
  std::ostringstream text;
  text << std::hex << member.status().st_ino;
  return text.str();
}

}  // namespace

TEST_CASE("a note about a native file is found from the file's own directory") {
  const Member member;
  CHECK_FALSE(find_native_note(member.directory(), member.path(), "mcr", member.status()));
  member.note();
  const auto note = find_native_note(member.directory(), member.path(), "mcr", member.status());
  REQUIRE(note);
  CHECK(note->is_complete);
  CHECK(note->below == "../mcr");
  CHECK(note->stub.launch == "launch");
}

TEST_CASE("only a note about the part is completed, and no other file at its name is changed") {
  const Member member;
  const Stub stub = member.stub();
  REQUIRE(note_native(member.directory(), "../mcr", stub, member.status().st_ino));
  const std::string containers = member.place.path() + "/out/mcr";
  const std::string name = containers + "/set-natives/" + note_number(member) + ".stub";
  const auto time_after_completion = [&](const PartId& part) {
    const struct timespec old[2]{{1000, 0}, {1000, 0}};
    REQUIRE(::utimensat(AT_FDCWD, name.c_str(), old, 0) == 0);
    complete_note(containers, part, member.status());
    struct stat status {};
    REQUIRE(::stat(name.c_str(), &status) == 0);
    return status.st_mtim.tv_sec;
  };
  CHECK(time_after_completion(*PartId::random()) == 1000);
  CHECK(time_after_completion(stub.part) == member.status().st_mtim.tv_sec);
  {
    const auto file = File::open(AT_FDCWD, name, O_WRONLY | O_TRUNC);
    REQUIRE(file);
    REQUIRE(file->write_at(0, as_bytes("any")));
  }
  CHECK(time_after_completion(stub.part) == 1000);
}

TEST_CASE("a note that another user may have written or moved does not count") {
  const Member member;
  const std::string notes = member.place.path() + "/out/mcr/set-natives";
  const auto is_found = [&] {
    return find_native_note(member.directory(), member.path(), "mcr", member.status()).has_value();
  };
  SECTION("other users can write the note, and add names beside it") {
    member.note();
    const std::string note = notes + "/" + note_number(member) + ".stub";
    REQUIRE(::chmod(note.c_str(), 0666) == 0);
    CHECK(is_found());  // only this user can have put it there
    REQUIRE(::chmod(notes.c_str(), 01777) == 0);
    CHECK_FALSE(is_found());
  }
  SECTION("an unfinished note was made in another directory") {
    Stub stub = member.stub();
    stub.path = member.place.path() + "/elsewhere/rank0/a.h5";
    REQUIRE(note_native(member.directory(), "../mcr", stub, member.status().st_ino));
    CHECK(is_found());  // the files may have been moved together
    REQUIRE(::chmod(notes.c_str(), 01777) == 0);
    CHECK_FALSE(is_found());
    CHECK_FALSE(note_native(member.directory(), "../mcr", member.stub(), member.status().st_ino));
  }
}

TEST_CASE("a note does not count for a file that was written again later") {
  const Member member;
  member.note();
  struct timespec later[2]{};
  later[0].tv_sec = later[1].tv_sec = 1'900'000'000;
  REQUIRE(::utimensat(member.root.descriptor(), "out/rank0/a.h5", later, 0) == 0);
  CHECK_FALSE(find_native_note(member.directory(), member.path(), "mcr", member.status()));
}

TEST_CASE("a replaced file of a set keeps a second name, and is as closed as its directory was") {
  const Member member;
  REQUIRE(::fchmodat(member.root.descriptor(), "out/rank0", 0700, 0) == 0);
  member.note();
  const struct stat before = member.status();
  REQUIRE(keep_member_aside(member.directory(), member.path(), "mcr"));
  const struct stat now = member.status();
  CHECK(now.st_nlink == 2);
  CHECK((now.st_mode & 0777) == 0600);
  CHECK(now.st_ino == before.st_ino);
  const auto note = find_native_note(member.directory(), member.path(), "mcr", now);
  REQUIRE(note);
  CHECK(is_kept_aside(*note, member.directory(), now));
}

TEST_CASE("a native file without a note is not kept aside") {
  const Member member;
  REQUIRE(keep_member_aside(member.directory(), member.path(), "mcr"));
  CHECK(member.status().st_nlink == 1);
}

TEST_CASE("a file that no container will list is not kept aside, and its note can be removed") {
  const Member member;
  Stub never_staged = member.stub();
  never_staged.launch_directory.clear();
  member.note(never_staged);
  REQUIRE(keep_member_aside(member.directory(), member.path(), "mcr"));
  CHECK(member.status().st_nlink == 1);
  REQUIRE(find_native_note(member.directory(), member.path(), "mcr", member.status()));
  remove_note(member.directory(), "../mcr", member.status().st_ino);
  CHECK_FALSE(find_native_note(member.directory(), member.path(), "mcr", member.status()));
}

TEST_CASE("notes are made in the open directory, even if its path leads elsewhere") {
  const Member member;
  const File directory = member.directory();
  const int place = member.root.descriptor();
  REQUIRE(::renameat(place, "out", place, "away") == 0);
  for (const char* made : {"out", "out/rank0", "out/mcr"})
    REQUIRE(::mkdirat(place, made, 0755) == 0);
  REQUIRE(note_native(directory, "../mcr", member.stub(), 1));
  CHECK(::faccessat(place, "away/mcr/set-natives/1.stub", F_OK, 0) == 0);
  CHECK(::faccessat(place, "out/mcr/set-natives", F_OK, 0) != 0);
}
