// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/stage.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <thread>

#include "restart/base/lock.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/pattern_marks.hpp"
#include "restart/stage/stub_socket.hpp"
#include "test/unit/restart/staged_parts.hpp"

using namespace mcr;
using namespace mcr::restart;
using State = LaunchDirectory::State;
namespace fs = std::filesystem;

TEST_CASE("a new stage is open to this user and closed to others, whatever the umask") {
  const mode_t before = ::umask(0777);
  const ScratchDirectory scratch;
  const auto made = LaunchDirectory::create(scratch / "stage", "n", "l");
  REQUIRE(made);
  const auto presence = made->join(0, 1);
  const PartId part = published_part(*made, "bytes");
  const PartId small = small_part(*made, "bytes");
  const auto socket = StubSocket::listen(made->descriptor());
  ::umask(before);
  for (const std::string& name :
       {"ranks/" + presence->name, "published/" + part.text() + ".journal",
        "published/" + small.text() + ".journal", "parts/" + part.text(), std::string("stubs")}) {
    INFO(name);
    CHECK((fs::status(scratch / ("stage/n.l/" + name)).permissions() & fs::perms::all) ==
          (fs::perms::owner_read | fs::perms::owner_write));
  }
  CHECK(made->path() == scratch / "stage/n.l");
  CHECK((fs::status(scratch / "stage").permissions() & fs::perms::all) == fs::perms::owner_all);
  CHECK(LaunchDirectory::create(scratch / "stage", "n", "l"));
  CHECK(LaunchDirectory::open(scratch / "stage/n.l"));
}

TEST_CASE("a stage that is not a closed directory of this user is refused") {
  const ScratchDirectory scratch;
  SECTION("open to others") {
    fs::create_directory(scratch / "stage");
    fs::permissions(scratch / "stage", fs::perms::owner_all | fs::perms::group_read);
  }
  SECTION("a link") {
    fs::create_directory(scratch / "real");
    fs::permissions(scratch / "real", fs::perms::owner_all);
    fs::create_directory_symlink(scratch / "real", scratch / "stage");
  }
  SECTION("a file") {
    (void)::close(::open((scratch / "stage").c_str(), O_CREAT | O_WRONLY, 0700));
  }
  SECTION("another user's") {
    if (::geteuid() != 0) return;
    fs::create_directory(scratch / "stage");
    fs::permissions(scratch / "stage", fs::perms::owner_all);
    REQUIRE(::chown((scratch / "stage").c_str(), 12345, 12345) == 0);
  }
  const auto made = LaunchDirectory::create(scratch / "stage", "n", "l");
  REQUIRE_FALSE(made);
  CHECK(made.error().cause == Cause::usage);
  CHECK(made.error().message.find(scratch / "stage") != std::string::npos);
  CHECK_FALSE(LaunchDirectory::open(scratch / "stage/n.l"));
  CHECK_FALSE(launch_directories(scratch / "stage"));
}

TEST_CASE("a leader neither leads nor empties a directory that no launch made") {
  const TestStage stage;
  const std::string other = stage.path + "/dot.directory";
  fs::create_directory(other);
  fs::permissions(other, fs::perms::owner_all);
  const auto put = [](const std::string& path) {
    const int file = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
    REQUIRE(file >= 0);
    (void)::close(file);
  };
  put(other + "/id_ed25519");
  CHECK_FALSE(LaunchDirectory::open_in(stage.path, other));
  auto opened = LaunchDirectory::open(other);
  REQUIRE(opened);
  CHECK_FALSE(opened->remove_if_done());
  CHECK(fs::exists(other + "/id_ed25519"));
}

TEST_CASE("a file that no launch made is not removed, nor is its directory") {
  const TestStage stage;
  const std::string path = stage.directory.path();
  for (const std::string name : {"/notes.txt", "/parts/notes.txt", "/ranks/notes.txt"}) {
    const int file = ::open((path + name).c_str(), O_CREAT | O_WRONLY, 0600);
    REQUIRE(file >= 0);
    (void)::close(file);
    // The directory still counts as a launch's, so its parts are drained.
    CHECK(LaunchDirectory::open_in(stage.path, path));
    const auto removed = stage.directory.remove_if_done();
    REQUIRE_FALSE(removed);
    CHECK(removed.error().message.find(path + name) != std::string::npos);
    REQUIRE(fs::remove(path + name));
  }
  CHECK(stage.directory.remove_if_done().value_or(false));
}

TEST_CASE(
    "a directory is drained only if it lies in the stage of the settings or has the launch's "
    "mark") {
  const TestStage stage;
  const TestStage other;
  CHECK(LaunchDirectory::open_in(stage.path, stage.directory.path()));
  // In another stage, only directories with the launch's mark are accepted.
  CHECK(LaunchDirectory::open_in(stage.path, other.directory.path()));
  const std::string copy = other.path + "/a.copy";
  fs::copy(other.directory.path(), copy, fs::copy_options::recursive);
  fs::permissions(copy, fs::perms::owner_all);
  CHECK(fs::exists(copy + "/made"));
  CHECK_FALSE(LaunchDirectory::open_in(stage.path, copy));
  CHECK(LaunchDirectory::open_in(other.path, copy));
  const std::string mark = other.directory.path() + "/made";
  SECTION("a mark with a second name") { fs::create_hard_link(mark, other.path + "/second"); }
  SECTION("no mark") { fs::remove(mark); }
  CHECK_FALSE(LaunchDirectory::open_in(stage.path, other.directory.path()));
  CHECK_FALSE(LaunchDirectory::open_in(stage.path, stage.path));
}

TEST_CASE("a link in place of a launch's directory is refused") {
  const ScratchDirectory scratch;
  fs::create_directory(scratch / "stage");
  fs::permissions(scratch / "stage", fs::perms::owner_all);
  fs::create_directory(scratch / "elsewhere");
  fs::create_directory_symlink(scratch / "elsewhere", scratch / "stage/n.l");
  CHECK_FALSE(LaunchDirectory::create(scratch / "stage", "n", "l"));
  CHECK_FALSE(LaunchDirectory::open(scratch / "stage/n.l"));
  CHECK(fs::is_empty(scratch / "elsewhere"));
}

TEST_CASE("names of node and launch cannot lead out of the stage") {
  const ScratchDirectory scratch;
  const auto made = LaunchDirectory::create(scratch / "stage", "../../x", "a/b");
  REQUIRE(made);
  CHECK(fs::path(made->path()).parent_path() == scratch / "stage");
  CHECK_FALSE(LaunchDirectory::create("relative", "n", "l"));
}

TEST_CASE("patterns are marked native for the whole launch") {
  const TestStage stage;
  CHECK_FALSE(stage.directory.is_marked_native("plt_{n}.h5"));
  CHECK(stage.directory.mark_native("plt_{n}.h5"));
  CHECK(stage.directory.mark_native("plt_{n}.h5"));
  CHECK(stage.directory.is_marked_native("plt_{n}.h5"));
  CHECK_FALSE(stage.directory.is_marked_native("plt_{n}.h6"));
  CHECK_FALSE(stage.directory.is_marked_native("*"));
  CHECK(stage.directory.mark_native("*"));
  CHECK(stage.directory.is_marked_native("*"));
}

TEST_CASE("a process outside a launch marks a pattern only if the launch has a leader") {
  const TestStage stage;
  const std::string path = stage.directory.path();
  const std::string home = path.substr(0, path.rfind('/'));
  CHECK_FALSE(mark_native_where_begun(home, "node", "other", "f_{n}.h5"));
  CHECK_FALSE(mark_native_where_begun(home + "/none", "node", "launch", "f_{n}.h5"));
  const auto begun = LaunchDirectory::create(home, "node", "begun");
  REQUIRE(begun);
  CHECK_FALSE(mark_native_where_begun(home, "node", "begun", "f_{n}.h5"));
  CHECK_FALSE(begun->is_marked_native("f_{n}.h5"));
  const auto lead = begun->try_lead();
  REQUIRE(lead);
  REQUIRE(lead->has_value());
  CHECK(mark_native_where_begun(home, "node", "begun", "f_{n}.h5"));
  CHECK(begun->is_marked_native("f_{n}.h5"));
  CHECK_FALSE(stage.directory.is_marked_native("f_{n}.h5"));
}

TEST_CASE("a notice of the leader is read by the ranks") {
  const TestStage stage;
  CHECK(stage.directory.notice().stage_bytes == 0);
  CHECK(stage.directory.write_notice({123456789, true, 987654321, 3, 1'700'000'000'000'000'000}));
  CHECK(stage.directory.notice().stage_bytes == 123456789);
  CHECK(stage.directory.notice().automatic_limit == 987654321);
  CHECK(stage.directory.notice().sets_behind == 3);
  CHECK(stage.directory.notice().seen_ns == 1'700'000'000'000'000'000);
  CHECK(clock_ns(CLOCK_REALTIME) - stage.directory.notice().written_ns < 60'000'000'000);
  CHECK(stage.directory.notice().commit_failed);
  CHECK(stage.directory.write_notice({1, false, 0}));
  CHECK_FALSE(stage.directory.notice().commit_failed);
}

TEST_CASE("locks tell which processes live, and records which have ended") {
  const TestStage stage;
  auto one = stage.directory.join(1, 4);
  auto two = stage.directory.join(2, 4);
  REQUIRE(one);
  REQUIRE(two);
  NativeCounts natives;
  natives[NativeReason::swmr] = 5;
  CHECK(LaunchDirectory::record_native_pattern(*two, "/d/a.{rank}.h5"));
  CHECK(LaunchDirectory::record_native_pattern(*two, "/d/b.{rank}.h5"));
  CHECK(stage.directory.end_presence(*two, 3, natives));
  auto seen = stage.directory.presences();
  REQUIRE(seen);
  REQUIRE(seen->size() == 2);
  CHECK((*seen)[0].rank == 1);
  CHECK((*seen)[0].alive);
  CHECK_FALSE((*seen)[0].ended);
  CHECK((*seen)[1].alive);
  CHECK((*seen)[1].natives[NativeReason::swmr] == 5);
  CHECK(total_of((*seen)[0].natives) == 0);
  CHECK((*seen)[1].native_patterns == std::set<std::string>{"/d/a.{rank}.h5", "/d/b.{rank}.h5"});
  CHECK((*seen)[1].ended);
  CHECK((*seen)[1].status == 3);
  one->file = File();
  seen = stage.directory.presences();
  REQUIRE(seen);
  CHECK_FALSE((*seen)[0].alive);
  CHECK_FALSE((*seen)[0].ended);
  CHECK((*seen)[1].alive);
  CHECK((*seen)[1].natives[NativeReason::swmr] == 5);
  CHECK(total_of((*seen)[0].natives) == 0);
}

TEST_CASE("a killed process counts as dead at once") {
  const TestStage stage;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto presence = stage.directory.join(5, 8);
    (void)!::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK(stage.directory.presences()->front().alive);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(stage.directory.presences()->front().alive);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("there is one leader at a time") {
  const TestStage stage;
  CHECK_FALSE(stage.directory.has_leader());
  auto first = stage.directory.try_lead();
  REQUIRE(first);
  REQUIRE(first->has_value());
  CHECK(stage.directory.has_leader());
  const auto second = stage.directory.try_lead();
  REQUIRE(second);
  CHECK_FALSE(second->has_value());
  *first = std::nullopt;
  CHECK_FALSE(stage.directory.has_leader());
  CHECK(stage.directory.try_lead()->has_value());
}

TEST_CASE("only one of the ranks that ask is told to start a leader") {
  const TestStage stage;
  const std::string claim = stage.directory.path() + "/starting";
  REQUIRE(stage.directory.claim_start());
  CHECK_FALSE(stage.directory.claim_start());
  SECTION("another rank is told if the first one could not start it") {
    stage.directory.end_start();
    CHECK(stage.directory.claim_start());
  }
  SECTION(
      "another rank is told after half a second without a leader, or if the clock was set back") {
    for (const int seconds : {-1, 3600}) {
      const timespec when{std::time(nullptr) + seconds, 0};
      const std::array<timespec, 2> times{when, when};
      REQUIRE(::utimensat(AT_FDCWD, claim.c_str(), times.data(), 0) == 0);
      CHECK(stage.directory.claim_start());
      CHECK_FALSE(stage.directory.claim_start());
    }
  }
  SECTION("no rank is told while there is a leader, and one is told when the leader has ended") {
    stage.directory.end_start();
    auto lead = stage.directory.try_lead();
    REQUIRE(lead->has_value());
    CHECK_FALSE(stage.directory.claim_start());
    CHECK_FALSE(fs::exists(claim));
    *lead = std::nullopt;
    CHECK(stage.directory.claim_start());
  }
}

TEST_CASE("a process that is delayed in has_leader() does not prevent a leader from starting") {
  const TestStage stage;
  REQUIRE(stage.directory.try_lead());  // makes the lock file
  const auto asker = File::open(AT_FDCWD, stage.directory.path() + "/lock", O_RDONLY);
  REQUIRE(asker);
  REQUIRE(try_lock(*asker, LockKind::shared));
  std::thread goes_on([&] {
    ::usleep(200'000);
    unlock(*asker);
  });
  const auto lead = stage.directory.try_lead();
  goes_on.join();
  REQUIRE(lead);
  CHECK(lead->has_value());
}

TEST_CASE("ranks that call has_leader() do not prevent a leader from starting") {
  const TestStage stage;
  REQUIRE(stage.directory.try_lead());  // makes the lock file
  std::atomic<bool> stop = false;
  std::thread asker([&] {
    while (!stop) {
      (void)stage.directory.has_leader();
      ::usleep(100);
    }
  });
  int led = 0;
  for (int i = 0; i < 200; ++i) {
    const auto lead = stage.directory.try_lead();
    if (lead && lead->has_value()) ++led;
  }
  stop = true;
  asker.join();
  CHECK(led == 200);
}

TEST_CASE("a launch's directory is removed only if nothing is left to do and no process lives") {
  const TestStage stage;
  const auto lead = stage.directory.try_lead();
  REQUIRE(lead);
  std::optional<LaunchDirectory::Presence> presence = std::move(*stage.directory.join(0, 1));
  CHECK_FALSE(stage.directory.remove_if_done().value_or(true));
  presence.reset();
  const PartId part = published_part(stage.directory, "x");
  CHECK_FALSE(stage.directory.remove_if_done().value_or(true));
  CHECK(stage.directory.mark_committed(part));
  CHECK_FALSE(stage.directory.remove_if_done().value_or(true));
  CHECK(stage.directory.free_part(part, 0));
  CHECK(stage.directory.mark_native("x"));
  CHECK(stage.directory.write_notice({}));
  CHECK(stage.directory.claim_report());
  const auto socket = StubSocket::listen(stage.directory.descriptor());
  REQUIRE(socket);
  CHECK(stage.directory.remove_if_done().value_or(false));
  CHECK_FALSE(fs::exists(stage.directory.path()));
  CHECK(fs::is_empty(stage.path));
}

namespace {

/// Returns how many files of a pool without a name this process has open.
int nameless_in_pool() {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string file = fs::read_symlink(entry, gone).string();
    count += file.find("/pool/") != std::string::npos && file.ends_with(" (deleted)") ? 1 : 0;
  }
  return count;
}
int nameless_at_the_end = 0;

}  // namespace

TEST_CASE("the pool's memory is freed after the stage is unlocked") {
  const TestStage stage;
  const auto lead = stage.directory.try_lead();
  const PartId part = published_part(stage.directory, std::string(100'000, 'x'));
  CHECK(stage.directory.free_part(part, 0));
  REQUIRE_FALSE(fs::is_empty(stage.directory.path() + "/pool"));
  SystemCalls calls = system_calls();
  calls.unlinkat = [](int directory, const char* name, int flags) {
    nameless_at_the_end = nameless_in_pool();
    return ::unlinkat(directory, name, flags);
  };
  {
    const ReplacedSystemCalls replaced(calls);
    CHECK(stage.directory.remove_if_done().value_or(false));
  }
  CHECK(nameless_at_the_end == 1);
  CHECK(nameless_in_pool() == 0);
}

TEST_CASE("a process that enters while a leader removes the directory is never lost") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "stage";
  std::atomic<bool> stop = false;
  std::thread remover([&] {
    while (!stop) {
      const auto directory = LaunchDirectory::open(path + "/n.l");
      if (!directory) continue;
      const auto lead = directory->try_lead();
      if (lead && lead->has_value()) (void)directory->remove_if_done().has_value();
    }
  });
  for (int i = 0; i < 500; ++i) {
    auto entered = LaunchDirectory::enter(path, "n", "l", 0, 1);
    REQUIRE(entered);
    const PartId part = published_part(entered->directory, "never lost");
    const auto again = LaunchDirectory::open(path + "/n.l");
    REQUIRE(again);
    REQUIRE(again->is_in(State::published, part));
    REQUIRE(bytes_of(*again, part) == "never lost");
    REQUIRE(entered->directory.free_part(part, {}));
  }
  stop = true;
  remover.join();
}

TEST_CASE("only the directories of launches are found in a stage") {
  const TestStage stage;
  REQUIRE(LaunchDirectory::create(stage.path, "node", "second"));
  (void)::close(::open((stage.path + "/file.txt").c_str(), O_CREAT | O_WRONLY, 0600));
  CHECK(launch_directories(stage.path).value_or(std::vector<std::string>{}) ==
        std::vector<std::string>{stage.path + "/node.launch", stage.path + "/node.second"});
  CHECK(
      launch_directories(stage.path + "/nowhere").value_or(std::vector<std::string>{"x"}).empty());
}
