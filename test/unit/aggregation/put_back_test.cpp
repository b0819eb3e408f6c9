// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/put_back.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <string_view>
#include <utility>

#include "aggregation/commit/stub_search.hpp"
#include "restart/base/read_marks.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/put_back_mark.hpp"
#include "restart/stage/refused_stubs.hpp"
#include "restart/stage/stub_file.hpp"
#include "test/unit/aggregation/staged_job.hpp"

using namespace mcr;
using namespace mcr::aggregation;
using State = restart::LaunchDirectory::State;

namespace {
restart::RefusedStubs refused(const StagedJob& job) {
  auto locked = restart::RefusedStubs::lock(job.directory(), restart::RefusedStubs::Wait::briefly);
  REQUIRE(locked);
  return *std::move(locked);
}
}  // namespace

TEST_CASE("a part takes the place of its stub, with mode and time of a native file") {
  StagedJob job(1);
  job.join(0);
  const std::string content(3'000'000, 'x');
  const auto id = job.write(0, "a.h5", content);
  const auto done = put_back(job.directory(), id, {});
  REQUIRE(done);
  CHECK(*done == PutBackEnd::done);
  CHECK(content_of(job.out("a.h5")) == content);
  struct stat status {};
  REQUIRE(::stat(job.out("a.h5").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(status.st_mtim.tv_sec == 2);
  CHECK(job.count(State::published) == 0);
  CHECK(std::filesystem::is_empty(job.directory().path() + "/parts"));
  CHECK(std::distance(std::filesystem::directory_iterator(job.out("")), {}) == 1);
}

TEST_CASE("a part whose stub was renamed, removed, linked or replaced stays in the stage") {
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.h5", "bytes");
  const std::string path = job.out("a.h5");
  SECTION("renamed") { std::filesystem::rename(path, job.out("b.h5")); }
  SECTION("removed") { std::filesystem::remove(path); }
  SECTION("linked") { REQUIRE(::link(path.c_str(), job.out("b.h5").c_str()) == 0); }
  SECTION("replaced") { std::ofstream(path) << "another file"; }
  SECTION("directory replaced") {
    std::filesystem::rename(job.out(""), job.out("") + "/../moved");
    std::filesystem::create_directory(job.out(""));
  }
  const auto done = put_back(job.directory(), id, {});
  REQUIRE(done);
  CHECK(*done == PutBackEnd::not_possible);
  CHECK(job.count(State::published) == 1);
}

namespace {
const StagedJob* taken_back_job = nullptr;
restart::PartId taken_back;

/// Before the leader opens the part's bytes: its writer takes it back, writes one half and dies.
int open_after_taking_back(int directory, const char* name, int flags, mode_t mode) {
  const auto& calls = restart::real_system_calls();
  if (const auto* job = std::exchange(taken_back_job, nullptr); job != nullptr) {
    if (!std::string_view(name).starts_with("parts/")) {
      taken_back_job = job;
      return calls.openat(directory, name, flags, mode);
    }
    const auto withdrawn = job->directory().withdraw(taken_back);
    REQUIRE((withdrawn && *withdrawn));
    REQUIRE((*withdrawn)->bytes.write_at(0, as_bytes("half")));
  }
  return calls.openat(directory, name, flags, mode);
}
}  // namespace

TEST_CASE("a part that its writer takes back while it is put back stays in the stage") {
  StagedJob job(1);
  job.join(0);
  taken_back = job.write(0, "a.h5", std::string(100'000, 'x'));
  const std::string stub = content_of(job.out("a.h5"));
  taken_back_job = &job;
  restart::SystemCalls calls = restart::real_system_calls();
  calls.openat = open_after_taking_back;
  const restart::ReplacedSystemCalls replaced(calls);
  const auto done = put_back(job.directory(), taken_back, {});
  CHECK(taken_back_job == nullptr);
  REQUIRE(done);
  CHECK(*done == PutBackEnd::taken_back);
  CHECK(content_of(job.out("a.h5")) == stub);
  CHECK(job.count(State::open) == 1);
}

TEST_CASE("a leader that died between the two names' exchange and its end is made up for") {
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.h5", "bytes");
  const std::string path = job.out("a.h5");
  const std::string waiting = job.out(".mcr-" + id.text() + ".tmp");
  std::filesystem::rename(path, waiting);
  std::ofstream(path) << "bytes";
  const auto stub = restart::File::open(AT_FDCWD, waiting, O_RDWR);
  struct stat native {};
  REQUIRE(::stat(path.c_str(), &native) == 0);
  REQUIRE(restart::mark_put_back(*stub, id, restart::FileIdentity(native)));
  CHECK(*put_back(job.directory(), id, {}) == PutBackEnd::done);
  CHECK(content_of(path) == "bytes");
  CHECK_FALSE(std::filesystem::exists(waiting));
  CHECK(job.count(State::published) == 0);
}

TEST_CASE("another user's files do not pass for an exchange that a leader did not complete") {
  if (::geteuid() != 0) return;  // only root can make another user's file
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.h5", "bytes");
  const std::string path = job.out("a.h5");
  const std::string waiting = job.out(".mcr-" + id.text() + ".tmp");
  std::filesystem::copy_file(path, waiting);
  std::filesystem::rename(path, job.out("b.h5"));  // by the program
  std::ofstream(path) << "his";
  const auto stub = restart::File::open(AT_FDCWD, waiting, O_RDWR);
  struct stat native {};
  REQUIRE(::stat(path.c_str(), &native) == 0);
  REQUIRE(restart::mark_put_back(*stub, id, restart::FileIdentity(native)));
  const std::string his = GENERATE(".tmp", "a.h5");
  REQUIRE(::chown((his == ".tmp" ? waiting : path).c_str(), 1001, 1001) == 0);
  CHECK(*put_back(job.directory(), id, {}) == PutBackEnd::not_possible);
  CHECK(job.count(State::published) == 1);
}

namespace {
std::string read_meanwhile;

/// As `cp` that comes while the leader copies the part.
ssize_t copy_stub_then_write(int descriptor, const void* data, std::size_t bytes, off_t offset) {
  // The first write is the mark, the second one the copy's.
  static int writes = 0;
  if (!read_meanwhile.empty() && ++writes % 2 == 0)
    (void)content_of(std::exchange(read_meanwhile, {}));
  return restart::real_system_calls().pwrite(descriptor, data, bytes, offset);
}
}  // namespace

TEST_CASE("a lone part whose stub is copied while it is put back goes into a container") {
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.h5", std::string(3'000'000, 'x'));
  const std::string path = job.out("a.h5");
  const std::string stub = content_of(path);
  const struct timespec unread[2] = {{1'000'000, 0}, {2'000'000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), unread, 0) == 0);
  const auto file = restart::File::open(AT_FDCWD, path, O_PATH);
  if (!restart::shows_reads(*file)) return;  // this file system does not say who reads
  const bool is_copied = GENERATE(true, false);
  read_meanwhile = is_copied ? path : std::string();
  restart::SystemCalls calls = restart::real_system_calls();
  calls.pwrite = copy_stub_then_write;
  const restart::ReplacedSystemCalls replaced(calls);
  const auto done = put_back(job.directory(), id, {}, nullptr, MayDrain::yes);
  CHECK(read_meanwhile.empty());
  REQUIRE(done);
  CHECK(*done == (is_copied ? PutBackEnd::not_possible : PutBackEnd::done));
  if (!is_copied) return;
  CHECK(content_of(path) == stub);
  CHECK(job.count(State::published) == 1);
  CHECK(*put_back(job.directory(), id, {}, nullptr, MayDrain::yes) == PutBackEnd::not_possible);
}

TEST_CASE("a lone part whose stub others may write to goes into a container") {
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.h5", "bytes");
  std::filesystem::permissions(job.out("a.h5"), std::filesystem::perms(0660));
  CHECK(*put_back(job.directory(), id, {}, nullptr, MayDrain::yes) == PutBackEnd::not_possible);
  CHECK(*put_back(job.directory(), id, {}) == PutBackEnd::done);
  CHECK(content_of(job.out("a.h5")) == "bytes");
}

TEST_CASE("what a leader left that died while it put a part back goes") {
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.h5", "bytes");
  const auto begin = job.directory().journal(State::published, id)->begin;
  const std::string temporary = job.out(".mcr-" + id.text() + ".tmp");
  std::ofstream(temporary) << "half of the by";
  remove_leftover(begin);
  CHECK_FALSE(std::filesystem::exists(temporary));
  std::filesystem::rename(job.out("a.h5"), temporary);  // the exchange had been made
  remove_leftover(begin);
  CHECK(std::filesystem::exists(temporary));
}

TEST_CASE("a modification time in the future says nothing about reads") {
  StagedJob job(1);
  job.join(0);
  job.write(0, "a.h5", "bytes");
  const struct timespec times[2] = {{1'000'000, 0}, {std::time(nullptr) + 1000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, job.out("a.h5").c_str(), times, 0) == 0);
  CHECK(restart::may_have_been_read(*restart::File::open(AT_FDCWD, job.out("a.h5"), O_PATH)));
}

TEST_CASE("a stub looks unread although it is made and written within one tick of the clock") {
  StagedJob job(1);
  // Other file systems do not record reads.
  if (!restart::shows_reads(*restart::File::open(AT_FDCWD, job.out(""), O_RDONLY))) return;
  for (int i = 0; i < 50; ++i) {
    const std::string path = job.out("stub-" + std::to_string(i));
    const auto file = restart::File::open(AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
    REQUIRE(file);
    REQUIRE(restart::write_stub_file(*file, restart::Stub()));
    CHECK_FALSE(restart::may_have_been_read(*file));
  }
}

TEST_CASE("a part follows its stub to where the program has renamed it") {
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.h5", "bytes");
  const std::string moved = job.out("") + "/../moved";
  StubHandles stubs;
  stubs.remember(job.directory().journal(State::published, id)->begin);
  std::string now;
  SECTION("its directory") {
    std::filesystem::rename(job.out(""), moved);
    std::filesystem::create_directory(job.out(""));
    now = moved + "/a.h5";
  }
  SECTION("itself") {
    std::filesystem::rename(job.out("a.h5"), job.out("b.h5"));
    now = job.out("b.h5");
  }
  const auto done = put_back(job.directory(), id, {}, &stubs);
  REQUIRE(done);
  CHECK(*done == PutBackEnd::done);
  CHECK(content_of(now) == "bytes");
  CHECK_FALSE(std::filesystem::exists(job.out("a.h5")));
  CHECK(job.count(State::published) == 0);
}

TEST_CASE("a part that its writer has taken back is not put anywhere") {
  StagedJob job(1);
  job.join(0);
  const auto id = job.write(0, "a.h5", "bytes");
  const std::string path = job.out("a.h5");
  const struct timespec unread[2] = {{1'000'000, 0}, {2'000'000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), unread, 0) == 0);
  const auto taken = job.directory().withdraw(id);
  REQUIRE(taken->has_value());
  const auto done = put_back(job.directory(), id, {}, nullptr, MayDrain::yes);
  REQUIRE(done);
  CHECK(*done == PutBackEnd::taken_back);
  CHECK(job.count(State::open) == 1);
  // The writer publishes the part again with the same stub, which must not count as read.
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK(status.st_atim.tv_sec == unread[0].tv_sec);
}

TEST_CASE("a flushed part of a dead writer is put at its path when nothing lay there") {
  StagedJob job(1);
  job.join(0);
  {
    auto begun = job.begin(0, "a.h5", "flushed");
    job.publish(begun, true);
    const auto early = settle(job.directory(), begun.begin.part);
    CHECK_FALSE(early);  // its writer has the bytes locked: it lives
  }
  const auto id = job.directory().list(State::open)->at(0);
  REQUIRE(settle(job.directory(), id));
  CHECK(content_of(job.out("a.h5")) == "flushed");
  CHECK(job.count(State::open) == 0);
}

TEST_CASE("a flushed file of a dead writer is there under each name that it was given") {
  StagedJob job(1);
  job.join(0);
  const std::string flushed(200'000, 'x');
  const std::string path = job.out("a.h5");
  const std::string other = job.out("latest.h5");
  {
    auto begun = job.begin(0, "a.h5", flushed);
    job.publish(begun, true);
  }
  REQUIRE(::link(path.c_str(), other.c_str()) == 0);
  SECTION("at its path") {}
  SECTION("half filled by a leader that died") {
    std::ofstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100'000) << std::string(100'000, 'x');
  }
  const auto id = job.directory().list(State::open)->at(0);
  REQUIRE(settle(job.directory(), id));
  CHECK((content_of(path) == flushed));
  CHECK((content_of(other) == flushed));
  CHECK(std::filesystem::hard_link_count(path) == 2);
  CHECK(job.count(State::open) == 0);
  CHECK_FALSE(std::filesystem::exists(job.out("mcr")));
}

TEST_CASE("a flushed part of a dead writer is kept aside when an older file lies at its path") {
  StagedJob job(1);
  job.join(0);
  std::ofstream(job.out("a.h5")) << "older";
  {
    auto begun = job.begin(0, "a.h5", "flushed");
    job.publish(begun, true);
  }
  const auto id = job.directory().list(State::open)->at(0);
  const auto said = settle(job.directory(), id);
  REQUIRE(said);
  CHECK(content_of(job.out("a.h5")) == "older");
  const std::string aside = job.out("mcr/unfinished-a.h5." + id.text().substr(0, 8));
  CHECK(content_of(aside) == "flushed");
  CHECK(said->find(aside) != std::string::npos);
}

TEST_CASE("a stub is not looked for in a directory in which another user may have written it") {
  if (::geteuid() != 0) return;  // root alone can make another user's directory
  StagedJob job(1);
  job.join(0);
  const restart::PartId part = job.write(0, "a.h5", "image");
  std::filesystem::create_directory(job.out("other"));
  std::filesystem::rename(job.out("a.h5"), job.out("other/a.h5"));
  const std::uint64_t until_ms = restart::monotonic_ms() + longest_search_ms;
  CHECK(search_stubs(job.out(""), {{part, {}}}, until_ms).size() == 1);
  REQUIRE(::chown(job.out("other").c_str(), 12345, 12345) == 0);
  CHECK(search_stubs(job.out(""), {{part, {}}}, until_ms).empty());
  // The file that H5Fcreate made for the part counts there, too.
  struct stat status {};
  REQUIRE(::stat(job.out("other/a.h5").c_str(), &status) == 0);
  const WantedStub wanted{{}, restart::FileIdentity(status), {}};
  CHECK(search_stubs(job.out(""), {{part, wanted}}, until_ms).size() == 1);
}

TEST_CASE("what a dead writer flushed is kept aside although another user has taken its name") {
  if (::geteuid() != 0) return;  // root alone can make another user's file
  StagedJob job(1);
  job.join(0);
  std::ofstream(job.out("a.h5")) << "older";
  {
    auto begun = job.begin(0, "a.h5", "flushed");
    job.publish(begun, true);
  }
  const auto id = job.directory().list(State::open)->at(0);
  const std::string taken = job.out("mcr/unfinished-a.h5." + id.text().substr(0, 8));
  std::filesystem::create_directory(job.out("mcr"));
  std::ofstream(taken) << "the neighbour's";
  REQUIRE(::chown(taken.c_str(), 12345, 12345) == 0);
  const auto said = settle(job.directory(), id);
  REQUIRE(said);
  CHECK(content_of(taken) == "the neighbour's");
  CHECK(job.count(State::open) == 0);
  const std::string aside = said->substr(said->find(job.out("mcr/unfinished-a.h5.")));
  CHECK(aside != taken);
  CHECK(content_of(aside) == "flushed");
}

TEST_CASE("what a dead writer flushed is kept in the nearest directory if its own has gone") {
  StagedJob job(1);
  job.join(0);
  std::filesystem::create_directories(job.out("deep/er"));
  job.begin_ns = restart::clock_ns(CLOCK_REALTIME);
  {
    auto begun = job.begin(0, "deep/er/a.h5", "flushed");
    job.publish(begun, true);
  }
  const bool is_made_again = GENERATE(false, true);
  std::filesystem::remove_all(job.out(is_made_again ? "deep/er" : "deep"));
  if (is_made_again) std::filesystem::create_directory(job.out("deep/er"));
  const auto id = job.directory().list(State::open)->at(0);
  const auto said = settle(job.directory(), id);
  REQUIRE(said);
  const std::string aside = job.out(std::string(is_made_again ? "deep/" : "") +
                                    "mcr/unfinished-a.h5." + id.text().substr(0, 8));
  CHECK(content_of(aside) == "flushed");
  CHECK(said->find(aside) != std::string::npos);
  CHECK(job.count(State::open) == 0);
}

TEST_CASE("a part that was never flushed leaves nothing but its stub") {
  StagedJob job(1);
  job.join(0);
  { auto begun = job.begin(0, "a.h5", "half"); }
  const auto id = job.directory().list(State::open)->at(0);
  REQUIRE(settle(job.directory(), id));
  CHECK(job.count(State::open) == 0);
  CHECK(std::filesystem::is_empty(job.directory().path() + "/parts"));
}

TEST_CASE(
    "a stub that a dead writer left out is put in the place of what it replaces, and of nothing "
    "else") {
  StagedJob job(1);
  job.join(0);
  job.write(0, "a.h5", "one");
  auto begun = job.begin(0, "a.h5", "two", 1);
  job.publish(begun, false, false);  // dies between publish and rename
  CHECK(look_at(begun.begin)->kind == AtPath::Kind::other_stub);
  SECTION("the predecessor's stub") {
    CHECK(*repair_stub(job.directory(), begun.begin));
    CHECK(look_at(begun.begin)->kind == AtPath::Kind::our_stub);
    CHECK_FALSE(*repair_stub(job.directory(), begun.begin));
  }
  SECTION("a later part's stub stays") {
    auto later = job.begin(0, "a.h5", "three", 2);
    job.publish(later);
    CHECK_FALSE(*repair_stub(job.directory(), begun.begin));
    CHECK(look_at(later.begin)->kind == AtPath::Kind::our_stub);
  }
  SECTION("what the program removed stays away") {
    std::filesystem::remove(job.out("a.h5"));
    CHECK_FALSE(*repair_stub(job.directory(), begun.begin));
    CHECK_FALSE(std::filesystem::exists(job.out("a.h5")));
  }
}

TEST_CASE("a stub that storage refused replaces the very file that lay there, and no other") {
  StagedJob job(1);
  job.join(0);
  job.write(0, "a.h5", "one");
  auto begun = job.begin(0, "a.h5", "two", 1);
  job.publish(begun, false, false);
  const auto there = look_at(begun.begin);
  REQUIRE(there);
  const restart::PartPublish::OlderFile older{there->device, there->inode, there->modified_ns};
  SECTION("it is there") {
    CHECK(*repair_stub(job.directory(), begun.begin, older));
    CHECK(look_at(begun.begin)->kind == AtPath::Kind::our_stub);
  }
  SECTION("the program has put a copy there") {
    std::filesystem::copy(job.out("a.h5"), job.out("b.h5"));
    std::filesystem::rename(job.out("b.h5"), job.out("a.h5"));
    CHECK_FALSE(*repair_stub(job.directory(), begun.begin, older));
    CHECK(look_at(begun.begin)->kind == AtPath::Kind::other_stub);
  }
  SECTION("its time has changed, as if the leader had tried to put the older part back") {
    std::filesystem::last_write_time(
        job.out("a.h5"), std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    CHECK(*repair_stub(job.directory(), begun.begin, older));
  }
  SECTION("a newer part waits for the same file: its stub goes there") {
    auto newer = job.begin(0, "a.h5", "three", 2);
    job.publish(newer, false, false);
    REQUIRE(refused(job).add(newer.begin));
    CHECK_FALSE(*repair_stub(job.directory(), begun.begin, older));
    CHECK(*repair_stub(job.directory(), newer.begin, older));
    CHECK(look_at(newer.begin)->kind == AtPath::Kind::our_stub);
  }
  SECTION("an older part's stub came there meanwhile") {
    auto newest = job.begin(0, "a.h5", "three", 2);
    job.publish(newest, false, false);
    CHECK(*repair_stub(job.directory(), begun.begin, older));
    const auto now = look_at(newest.begin);
    CHECK(*repair_stub(job.directory(), newest.begin,
                       restart::PartPublish::OlderFile{now->device, now->inode, 0}));
  }
  SECTION("the writer died while it wrote the stub over the older file") {
    std::fstream(job.out("a.h5"), std::ios::in | std::ios::out).seekp(20) << "torn";
    REQUIRE(look_at(begun.begin)->kind == AtPath::Kind::damaged_stub);
    CHECK(*repair_stub(job.directory(), begun.begin, older));
    CHECK(look_at(begun.begin)->kind == AtPath::Kind::our_stub);
  }
  SECTION("a rank is recording a refusal: the leader tries again later") {
    const auto rank = refused(job);
    const auto done = repair_stub(job.directory(), begun.begin, older);
    REQUIRE_FALSE(done);
    CHECK(done.error().system_error == EWOULDBLOCK);
  }
}

TEST_CASE("a stub that storage refused does not replace a native file that was written since") {
  StagedJob job(1);
  job.join(0);
  std::ofstream(job.out("a.h5")) << "older";
  auto begun = job.begin(0, "a.h5", "two", 1);
  job.publish(begun, false, false);
  const auto there = look_at(begun.begin);
  const restart::PartPublish::OlderFile older{there->device, there->inode, there->modified_ns};
  std::filesystem::last_write_time(
      job.out("a.h5"), std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK_FALSE(*repair_stub(job.directory(), begun.begin, older));
  CHECK(content_of(job.out("a.h5")) == "older");
}

TEST_CASE("a part is not put back at a path where a newer part's stub waits for its stub") {
  StagedJob job(1);
  job.join(0);
  const restart::PartId part = job.write(0, "a.h5", "one");
  auto newer = job.begin(0, "a.h5", "two", 1);
  job.publish(newer, false, false);
  const auto there = look_at(newer.begin);
  const restart::PartPublish::OlderFile older{there->device, there->inode, there->modified_ns};
  const auto may_drain = GENERATE(MayDrain::no, MayDrain::yes);
  SECTION("it waits") {
    REQUIRE(refused(job).add(newer.begin));
    CHECK(*put_back(job.directory(), part, {}, nullptr, may_drain) == PutBackEnd::not_possible);
    CHECK(look_at(newer.begin)->part == part);
    CHECK(*repair_stub(job.directory(), newer.begin, older));
  }
  SECTION("a rank is recording that it waits") {
    const auto rank = refused(job);
    const auto bytes = std::filesystem::file_size(job.out("a.h5"));
    CHECK(*put_back(job.directory(), part, {}, nullptr, may_drain) == PutBackEnd::not_possible);
    CHECK(look_at(newer.begin)->part == part);
    CHECK(std::filesystem::file_size(job.out("a.h5")) == bytes);  // no mark at its end
  }
  SECTION("it waits at another path") {
    auto other = job.begin(0, "b.h5", "three", 1);
    REQUIRE(refused(job).add(other.begin));
    CHECK(*put_back(job.directory(), part, {}, nullptr, may_drain) == PutBackEnd::done);
  }
}

TEST_CASE(
    "an empty file that was made within one tick of the clock for the next part is not this "
    "one's") {
  StagedJob job(1);
  job.join(0);
  job.begin_ns = ~std::uint64_t{0} >> 1;  // after whatever the file system says of either file
  const restart::PartId part = job.write(0, "tmp.h5", "image");
  std::filesystem::rename(job.out("tmp.h5"), job.out("final.h5"));
  std::ofstream(job.out("tmp.h5")).flush();
  const auto journal = job.directory().journal(restart::LaunchDirectory::State::published, part);
  CHECK(look_at(journal->begin)->kind == AtPath::Kind::other_file);
  CHECK(*put_back(job.directory(), part, {}) == PutBackEnd::not_possible);
  CHECK(content_of(job.out("tmp.h5")).empty());
}

TEST_CASE("the empty file of H5Fcreate is the part's own until somebody else writes there") {
  StagedJob job(1);
  job.join(0);
  job.begin_ns = ~std::uint64_t{0} >> 1;  // after whatever the file system says of the file
  auto begun = job.begin(0, "a.h5", "image");
  std::filesystem::resize_file(job.out("a.h5"), 0);  // the writer has not come to its stub
  CHECK(look_at(begun.begin)->kind == AtPath::Kind::our_empty);
  SECTION("published, then dead: it gets its stub") {
    job.publish(begun, false, false);
    CHECK(*repair_stub(job.directory(), begun.begin));
    CHECK(look_at(begun.begin)->kind == AtPath::Kind::our_stub);
  }
  SECTION("flushed, then dead: it gets what was flushed") {
    job.publish(begun, true, false);
    begun.bytes = restart::File();
    REQUIRE(settle(job.directory(), begun.begin.part));
    CHECK(content_of(job.out("a.h5")) == "image");
  }
  SECTION("put back: it gets the part") {
    job.publish(begun, false, false);
    CHECK(*put_back(job.directory(), begun.begin.part, {}) == PutBackEnd::done);
    CHECK(content_of(job.out("a.h5")) == "image");
  }
  SECTION("neither flushed nor closed: it stays empty, and nothing stays in the stage") {
    begun.bytes = restart::File();
    REQUIRE(settle(job.directory(), begun.begin.part));
    CHECK(content_of(job.out("a.h5")).empty());
    CHECK(job.count(State::open) == 0);
  }
  SECTION("an empty file that came later is not ours") {
    begun.begin.begin_ns = restart::clock_ns(CLOCK_REALTIME);
    std::filesystem::last_write_time(
        job.out("a.h5"), std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    CHECK(look_at(begun.begin)->kind == AtPath::Kind::other_file);
    CHECK_FALSE(*repair_stub(job.directory(), begun.begin));
  }
  SECTION("nor is one where something lay before") {
    begun.begin.replaced = restart::Replaced::native_file;
    CHECK(look_at(begun.begin)->kind == AtPath::Kind::other_file);
  }
}
