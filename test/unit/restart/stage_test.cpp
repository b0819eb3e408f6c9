// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "restart/base/lock.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/faults.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;
using State = LaunchDirectory::State;
namespace fs = std::filesystem;

namespace {

LaunchDirectory made_in(const std::string& stage) {
  auto made = LaunchDirectory::create(stage, "node", "launch");
  REQUIRE(made);
  return std::move(*made);
}

struct TestStage {
  ScratchDirectory scratch;
  std::string path = scratch / "stage";
  LaunchDirectory directory = made_in(path);
};

PartBegin begin_of(const PartId& part) {
  PartBegin begin;
  begin.part = part;
  begin.path = "/w/r0.h5";
  begin.launch = "launch";
  begin.masked_names = {"/w/r{rank}.h5"};
  return begin;
}

PartPublish final_publish(std::uint64_t size) { return {size, 1, false, false, {}}; }

/// A part of `bytes`, published, its writer gone.
PartId published_part(const LaunchDirectory& directory, const std::string& bytes) {
  const auto made = directory.create_part(0);
  REQUIRE(made);
  const auto journal = directory.begin(begin_of(made->part));
  REQUIRE(journal);
  REQUIRE(made->bytes.write_at(0, as_bytes(bytes)));
  REQUIRE(directory.publish(made->part, *journal, final_publish(bytes.size())));
  return made->part;
}

/// The same of a part that lies in its journal.
PartId small_part(const LaunchDirectory& directory, const std::string& bytes) {
  const PartId part = *PartId::random();
  REQUIRE(directory.publish_small(begin_of(part), final_publish(bytes.size()), as_bytes(bytes)));
  return part;
}

std::string bytes_of(const LaunchDirectory& directory, const PartId& part) {
  const auto file = directory.open_bytes(part);
  REQUIRE(file);
  return std::string(as_text(*file->read_all(1 << 20)));
}

}  // namespace

TEST_CASE("a stage is made closed to others, whatever the umask") {
  const mode_t before = ::umask(0777);
  const ScratchDirectory scratch;
  const auto made = LaunchDirectory::create(scratch / "stage", "n", "l");
  ::umask(before);
  REQUIRE(made);
  CHECK(made->path() == scratch / "stage/n.l");
  CHECK((fs::status(scratch / "stage").permissions() & fs::perms::all) == fs::perms::owner_all);
  CHECK(LaunchDirectory::create(scratch / "stage", "n", "l"));
  CHECK(LaunchDirectory::open(scratch / "stage/n.l"));
}

TEST_CASE("a stage that is not a directory of our own is refused") {
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
  SECTION("somebody else's") {
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

TEST_CASE("a planted launch directory is refused") {
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

TEST_CASE("a part goes from open to published to freed") {
  const TestStage stage;
  const auto made = stage.directory.create_part(0);
  REQUIRE(made);
  CHECK(made->reused_bytes == 0);
  const auto journal = stage.directory.begin(begin_of(made->part));
  REQUIRE(journal);
  CHECK(stage.directory.is_in(State::open, made->part));
  CHECK(stage.directory.list(State::open).value_or(std::vector<PartId>{}) ==
        std::vector<PartId>{made->part});
  CHECK(made->bytes.write_at(0, as_bytes("data")));
  CHECK(stage.directory.publish(made->part, *journal, final_publish(4)));
  CHECK_FALSE(stage.directory.is_in(State::open, made->part));
  CHECK(stage.directory.is_in(State::published, made->part));
  const auto read = stage.directory.journal(State::published, made->part);
  REQUIRE(read);
  CHECK(read->begin.path == "/w/r0.h5");
  REQUIRE(read->publish);
  CHECK(read->publish->size == 4);
  CHECK(stage.directory.committed(made->part, false, {}));
  CHECK_FALSE(stage.directory.is_in(State::published, made->part));
  CHECK_FALSE(fs::exists(stage.directory.path() + "/parts/" + made->part.text()));
}

TEST_CASE("a small part is published with its bytes in its journal") {
  const TestStage stage;
  const PartId part = *PartId::random();
  {
    const auto writer =
        stage.directory.publish_small(begin_of(part), final_publish(4), as_bytes("data"));
    REQUIRE(writer);
    CHECK(stage.directory.is_in(State::published, part));
    // Its writer still has to put the stub in place.
    const auto refused = stage.directory.open_bytes(part);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().system_error == EWOULDBLOCK);
  }
  CHECK(list_directory(stage.directory.descriptor(), "parts")->empty());
  CHECK(bytes_of(stage.directory, part) == "data");
  const auto read = stage.directory.journal(State::published, part);
  REQUIRE(read);
  CHECK(read->begin.path == "/w/r0.h5");
  CHECK(read->publish->size == 4);
  CHECK(stage.directory.committed(part, true, {}));
  CHECK(bytes_of(stage.directory, part) == "data");
  CHECK(stage.directory.committed(part, false, 0));
  CHECK_FALSE(stage.directory.open_bytes(part));
  CHECK_FALSE(stage.directory.is_in(State::committed, part));
}

TEST_CASE("a small part may be empty, and one that is not small is refused") {
  const TestStage stage;
  CHECK(bytes_of(stage.directory, small_part(stage.directory, "")).empty());
  const std::string most(max_content_bytes, 'x');
  CHECK(bytes_of(stage.directory, small_part(stage.directory, most)) == most);
  const PartId part = *PartId::random();
  CHECK_FALSE(stage.directory.publish_small(begin_of(part), final_publish(most.size() + 1),
                                            as_bytes(most + "x")));
  CHECK_FALSE(stage.directory.is_in(State::published, part));
}

TEST_CASE("a small part whose writer died over its journal is nobody's, at whatever byte") {
  const TestStage stage;
  const PartId part = small_part(stage.directory, "some bytes");
  const std::string path = stage.directory.path() + "/published/" + part.text() + ".journal";
  const auto whole = fs::file_size(path);
  for (auto length = whole; length-- > 0;) {
    fs::resize_file(path, length);
    INFO(length);
    const auto journal = stage.directory.journal(State::published, part);
    REQUIRE_FALSE(journal);
    CHECK(journal.error().system_error == ENOENT);
    CHECK_FALSE(stage.directory.open_bytes(part));
  }
  const auto lead = stage.directory.try_lead();
  CHECK(stage.directory.remove_if_done().value_or(false));
  CHECK_FALSE(fs::exists(stage.directory.path()));
}

TEST_CASE("a small part is given back to its writer as any other") {
  const TestStage stage;
  const PartId part = small_part(stage.directory, "abc");
  SECTION("nobody has it") {
    auto withdrawn = stage.directory.withdraw(part);
    REQUIRE(withdrawn);
    REQUIRE(withdrawn->has_value());
    CHECK((*withdrawn)->publish.size == 3);
    CHECK(stage.directory.is_in(State::open, part));
    CHECK_FALSE(stage.directory.is_in(State::published, part));
    CHECK_FALSE(stage.directory.open_bytes(part));
    CHECK((*withdrawn)->bytes.write_at(3, as_bytes("de")));
    CHECK(stage.directory.publish(part, (*withdrawn)->journal, final_publish(5)));
    *withdrawn = std::nullopt;
    CHECK(bytes_of(stage.directory, part) == "abcde");
  }
  SECTION("a reader has it") {
    const auto reader = stage.directory.open_bytes(part);
    REQUIRE(reader);
    const auto withdrawn = stage.directory.withdraw(part);
    REQUIRE(withdrawn);
    CHECK_FALSE(withdrawn->has_value());
    CHECK(stage.directory.is_in(State::published, part));
  }
  SECTION("it is committed") {
    CHECK(stage.directory.committed(part, true, {}));
    const auto withdrawn = stage.directory.withdraw(part);
    REQUIRE(withdrawn);
    CHECK_FALSE(withdrawn->has_value());
    CHECK(bytes_of(stage.directory, part) == "abc");
  }
}

TEST_CASE("a part whose journal no reader would take is not begun") {
  const TestStage stage;
  PartBegin begin = begin_of(*PartId::random());
  begin.settings = std::string(20'000, 'x');
  const auto journal = stage.directory.begin(begin);
  REQUIRE_FALSE(journal);
  CHECK(journal.error().cause == Cause::usage);
  CHECK(stage.directory.list(State::open)->empty());
}

TEST_CASE("a provisional publish stays open and the last one counts") {
  const TestStage stage;
  const auto made = stage.directory.create_part(0);
  REQUIRE(made);
  const auto journal = stage.directory.begin(begin_of(made->part));
  REQUIRE(journal);
  for (std::uint64_t size : {10U, 20U}) {
    CHECK(stage.directory.publish(made->part, *journal, {size, 1, true, false, {}}));
  }
  CHECK(stage.directory.is_in(State::open, made->part));
  const auto read = stage.directory.journal(State::open, made->part);
  REQUIRE(read);
  CHECK(read->publish->size == 20);
  CHECK(read->publish->provisional);
}

TEST_CASE("a hundred thousand flushes do not make a journal that cannot be read") {
  const TestStage stage;
  const auto made = stage.directory.create_part(0);
  REQUIRE(made);
  const auto journal = stage.directory.begin(begin_of(made->part));
  REQUIRE(journal);
  for (std::uint64_t i = 1; i <= 100'000; ++i) {
    REQUIRE(stage.directory.publish(made->part, *journal, {i, 1, true, false, {}}));
  }
  const auto read = stage.directory.journal(State::open, made->part);
  REQUIRE(read);
  CHECK(read->publish->size == 100'000);
  CHECK(read->begin.path == "/w/r0.h5");
}

TEST_CASE("a part that is being written cannot be read, a published one can") {
  const TestStage stage;
  const auto made = stage.directory.create_part(0);
  REQUIRE(made);
  const auto refused = stage.directory.open_bytes(made->part);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().system_error == EWOULDBLOCK);
  const PartId part = published_part(stage.directory, "abc");
  CHECK(bytes_of(stage.directory, part) == "abc");
}

TEST_CASE("withdraw gives a published part back to its writer, locked") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "abc");
  const auto withdrawn = stage.directory.withdraw(part);
  REQUIRE(withdrawn);
  REQUIRE(withdrawn->has_value());
  CHECK((*withdrawn)->publish.size == 3);
  CHECK(stage.directory.is_in(State::open, part));
  CHECK_FALSE(stage.directory.is_in(State::published, part));
  CHECK_FALSE(stage.directory.open_bytes(part));
  CHECK(stage.directory.journal(State::open, part)->publish->provisional);
  CHECK(stage.directory.publish(part, (*withdrawn)->journal, final_publish(5)));
  const auto read = stage.directory.journal(State::published, part);
  REQUIRE(read);
  CHECK(read->publish->size == 5);
  CHECK_FALSE(read->publish->provisional);
}

TEST_CASE("withdraw gives nothing where a reader or the leader was first") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "abc");
  SECTION("reader") {
    const auto reader = stage.directory.open_bytes(part);
    REQUIRE(reader);
    const auto withdrawn = stage.directory.withdraw(part);
    REQUIRE(withdrawn);
    CHECK_FALSE(withdrawn->has_value());
    CHECK(stage.directory.is_in(State::published, part));
  }
  SECTION("committed") {
    CHECK(stage.directory.committed(part, true, {}));
    const auto withdrawn = stage.directory.withdraw(part);
    REQUIRE(withdrawn);
    CHECK_FALSE(withdrawn->has_value());
    CHECK(bytes_of(stage.directory, part) == "abc");
  }
  SECTION("gone") {
    CHECK(stage.directory.committed(part, false, {}));
    const auto withdrawn = stage.directory.withdraw(part);
    REQUIRE(withdrawn);
    CHECK_FALSE(withdrawn->has_value());
  }
}

TEST_CASE("a drained part's file becomes the next part's file") {
  const TestStage stage;
  const PartId old = published_part(stage.directory, "old bytes");
  CHECK(stage.directory.committed(old, false, 3));
  CHECK_FALSE(stage.directory.open_bytes(old));
  const auto other = stage.directory.create_part(2);
  REQUIRE(other);
  CHECK(other->reused_bytes == 0);
  const auto next = stage.directory.create_part(3);
  REQUIRE(next);
  CHECK(next->reused_bytes == 9);
  CHECK(next->part != old);
}

TEST_CASE("a part that somebody reads is freed but never reused") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "read me");
  const auto reader = stage.directory.open_bytes(part);
  REQUIRE(reader);
  CHECK(stage.directory.committed(part, false, 3));
  CHECK(as_text(*reader->read_all(100)) == "read me");
  const auto next = stage.directory.create_part(3);
  REQUIRE(next);
  CHECK(next->reused_bytes == 0);
}

TEST_CASE("a pooled file that is read late is left to its reader") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "read me");
  auto late = File::open(AT_FDCWD, stage.directory.path() + "/parts/" + part.text(), O_RDONLY);
  REQUIRE(late);
  CHECK(stage.directory.committed(part, false, 3));
  CHECK(try_lock(*late, LockKind::shared).value_or(false));
  const auto next = stage.directory.create_part(3);
  REQUIRE(next);
  CHECK(next->reused_bytes == 0);
  CHECK(as_text(*late->read_all(100)) == "read me");
}

TEST_CASE("a pool has eight places, and gives back what is asked for") {
  const TestStage stage;
  std::vector<PartId> parts;
  for (int i = 0; i < 10; ++i) {
    parts.push_back(published_part(stage.directory, std::string(10000, 'x')));
  }
  for (const PartId& part : parts) CHECK(stage.directory.committed(part, false, 0));
  CHECK(list_directory(stage.directory.descriptor(), "pool")->size() == 8);
  CHECK(list_directory(stage.directory.descriptor(), "parts")->empty());
  CHECK(stage.directory.used_bytes().value_or(0) >= 80000);
  CHECK(stage.directory.shrink_pool(1).value_or(0) >= 10000);
  CHECK(list_directory(stage.directory.descriptor(), "pool")->size() == 7);
  CHECK(stage.directory.shrink_pool(~std::uint64_t{0}));
  CHECK(stage.directory.used_bytes().value_or(1) == 0);
}

TEST_CASE("a kept part can be read until it is freed") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "kept");
  CHECK(stage.directory.committed(part, true, {}));
  CHECK(stage.directory.is_in(State::committed, part));
  CHECK(bytes_of(stage.directory, part) == "kept");
  CHECK(stage.directory.committed(part, false, {}));
  CHECK_FALSE(stage.directory.is_in(State::committed, part));
  CHECK_FALSE(stage.directory.open_bytes(part));
}

TEST_CASE("drop takes journal and bytes") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "x");
  CHECK(stage.directory.drop(part));
  CHECK_FALSE(stage.directory.is_in(State::published, part));
  CHECK_FALSE(stage.directory.open_bytes(part));
  CHECK(stage.directory.drop(part));
}

TEST_CASE("shapes are marked native for the whole launch") {
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

TEST_CASE("a notice of the leader is read by the ranks") {
  const TestStage stage;
  CHECK(stage.directory.notice().stage_bytes == 0);
  CHECK(stage.directory.write_notice({123456789, true}));
  CHECK(stage.directory.notice().stage_bytes == 123456789);
  CHECK(stage.directory.notice().commit_failed);
  CHECK(stage.directory.write_notice({1, false}));
  CHECK_FALSE(stage.directory.notice().commit_failed);
}

TEST_CASE("who lives is known by locks, who ended by its record") {
  const TestStage stage;
  auto one = stage.directory.join(1, 4);
  auto two = stage.directory.join(2, 4);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(stage.directory.end_presence(*two, 3));
  auto seen = stage.directory.presences();
  REQUIRE(seen);
  REQUIRE(seen->size() == 2);
  CHECK((*seen)[0].rank == 1);
  CHECK((*seen)[0].alive);
  CHECK_FALSE((*seen)[0].ended);
  CHECK((*seen)[1].alive);
  CHECK((*seen)[1].ended);
  CHECK((*seen)[1].status == 3);
  one->file = File();
  seen = stage.directory.presences();
  REQUIRE(seen);
  CHECK_FALSE((*seen)[0].alive);
  CHECK_FALSE((*seen)[0].ended);
  CHECK((*seen)[1].alive);
}

TEST_CASE("a killed process is dead at once") {
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

TEST_CASE("ranks that ask for a leader do not keep one from starting") {
  const TestStage stage;
  REQUIRE(stage.directory.try_lead());  // makes the file
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

TEST_CASE("a launch directory goes only when nothing is left to do and nobody lives") {
  const TestStage stage;
  const auto lead = stage.directory.try_lead();
  REQUIRE(lead);
  std::optional<LaunchDirectory::Presence> presence = std::move(*stage.directory.join(0, 1));
  CHECK_FALSE(stage.directory.remove_if_done().value_or(true));
  presence.reset();
  const PartId part = published_part(stage.directory, "x");
  CHECK_FALSE(stage.directory.remove_if_done().value_or(true));
  CHECK(stage.directory.committed(part, true, {}));
  CHECK_FALSE(stage.directory.remove_if_done().value_or(true));
  CHECK(stage.directory.committed(part, false, 0));
  CHECK(stage.directory.mark_native("x"));
  CHECK(stage.directory.write_notice({}));
  CHECK(stage.directory.remove_if_done().value_or(false));
  CHECK_FALSE(fs::exists(stage.directory.path()));
  CHECK(fs::is_empty(stage.path));
}

TEST_CASE("who enters while a leader removes the directory is never lost") {
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
    REQUIRE(entered->directory.committed(part, false, {}));
  }
  stop = true;
  remover.join();
}

TEST_CASE("launch directories of a stage are found, other things are not") {
  const TestStage stage;
  REQUIRE(LaunchDirectory::create(stage.path, "node", "second"));
  (void)::close(::open((stage.path + "/file.txt").c_str(), O_CREAT | O_WRONLY, 0600));
  CHECK(launch_directories(stage.path).value_or(std::vector<std::string>{}) ==
        std::vector<std::string>{stage.path + "/node.launch", stage.path + "/node.second"});
  CHECK(
      launch_directories(stage.path + "/nowhere").value_or(std::vector<std::string>{"x"}).empty());
}

TEST_CASE("a journal under another part's name is damaged") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "x");
  const PartId other = *PartId::random();
  fs::rename(stage.directory.path() + "/published/" + part.text() + ".journal",
             stage.directory.path() + "/published/" + other.text() + ".journal");
  const auto read = stage.directory.journal(State::published, other);
  REQUIRE_FALSE(read);
  CHECK(read.error().cause == Cause::damaged);
}

// Every system call of a part's whole life fails once, in every way. Allowed: the operation under
// way reports an error. Not allowed: a crash, a hang, a published part with other bytes than were
// written, a part in two states, or an error that keeps the next life from working.
TEST_CASE("whatever call fails in a part's life, what says published is published") {
  struct Kind {
    Fault fault;
    int number;
  };
  for (const Kind kind :
       {Kind{Fault::error, EIO}, Kind{Fault::error, ENOSPC}, Kind{Fault::error, EMFILE},
        Kind{Fault::error, ENOENT}, Kind{Fault::interrupted, 0}, Kind{Fault::short_transfer, 0}}) {
    bool reached_end = false;
    for (long at = 0; !reached_end; ++at) {
      const ScratchDirectory scratch;
      const std::string path = scratch / "stage";
      std::optional<PartId> part;
      std::string said_published;
      {
        const FaultySystem system(at, kind.fault, kind.number);
        const auto life = [&]() -> Result<void> {
          const auto entered = MCR_TRY(LaunchDirectory::enter(path, "n", "l", 0, 1));
          const LaunchDirectory& directory = entered.directory;
          const auto made = MCR_TRY(directory.create_part(0));
          part = made.part;
          const File journal = MCR_TRY(directory.begin(begin_of(made.part)));
          MCR_TRY(made.bytes.write_at(0, as_bytes("first bytes")));
          MCR_TRY(directory.publish(made.part, journal, {11, 1, true, false, {}}));
          MCR_TRY(directory.publish(made.part, journal, final_publish(11)));
          said_published = "first bytes";
          return {};
        };
        const auto lived = life();
        INFO("call " << at << " " << system.hit());
        reached_end = system.calls() <= at;
        if (reached_end) CHECK(lived);
        if (kind.fault == Fault::short_transfer) CHECK(lived);
      }
      INFO("call " << at);
      const auto directory = LaunchDirectory::create(path, "n", "l");
      REQUIRE(directory);
      int states = 0;
      if (part) {
        for (const State state : {State::open, State::published, State::committed}) {
          states += directory->is_in(state, *part) ? 1 : 0;
        }
      }
      CHECK(states <= 1);
      const bool is_published = part && directory->is_in(State::published, *part);
      CHECK(is_published == !said_published.empty());
      if (is_published) {
        CHECK(bytes_of(*directory, *part) == "first bytes");
        const auto journal = directory->journal(State::published, *part);
        REQUIRE(journal);
        REQUIRE(journal->publish);
        CHECK(journal->publish->size == 11);
        CHECK_FALSE(journal->publish->provisional);
      }
      // And life goes on.
      const PartId next = published_part(*directory, "next");
      CHECK(bytes_of(*directory, next) == "next");
    }
  }
}

TEST_CASE("whatever call fails, a small part is published whole or not at all") {
  for (const Fault fault : {Fault::error, Fault::interrupted, Fault::short_transfer}) {
    bool reached_end = false;
    for (long at = 0; !reached_end; ++at) {
      const TestStage stage;
      const PartId part = *PartId::random();
      bool said_published = false;
      {
        const FaultySystem system(at, fault, ENOSPC);
        said_published =
            stage.directory.publish_small(begin_of(part), final_publish(5), as_bytes("bytes"))
                .has_value();
        reached_end = system.calls() <= at;
      }
      INFO(at);
      if (reached_end || fault != Fault::error) CHECK(said_published);
      CHECK(stage.directory.is_in(State::published, part) == said_published);
      if (said_published) CHECK(bytes_of(stage.directory, part) == "bytes");
    }
  }
}

TEST_CASE(
    "whatever call fails in withdraw, the part is published as it was or in its writer's hands") {
  const bool is_small = GENERATE(false, true);
  for (const Fault fault : {Fault::error, Fault::interrupted, Fault::short_transfer}) {
    bool reached_end = false;
    for (long at = 0; !reached_end; ++at) {
      const TestStage stage;
      const PartId part = is_small ? small_part(stage.directory, "bytes")
                                   : published_part(stage.directory, "bytes");
      bool in_hands = false;
      {
        const FaultySystem system(at, fault, EIO);
        const auto withdrawn = stage.directory.withdraw(part);
        in_hands = withdrawn && withdrawn->has_value();
        reached_end = system.calls() <= at;
      }
      INFO(at);
      if (reached_end) CHECK(in_hands);
      CHECK(stage.directory.is_in(State::open, part) == in_hands);
      CHECK(stage.directory.is_in(State::published, part) != in_hands);
      CHECK(bytes_of(stage.directory, part) == "bytes");
      const auto journal = stage.directory.journal(in_hands ? State::open : State::published, part);
      REQUIRE(journal);
      CHECK(journal->publish->size == 5);
      CHECK(journal->publish->provisional == in_hands);
    }
  }
}

TEST_CASE("whatever call fails in freeing, no journal names bytes that are another part's") {
  for (const Fault fault : {Fault::error, Fault::interrupted}) {
    bool reached_end = false;
    for (long at = 0; !reached_end; ++at) {
      const TestStage stage;
      const PartId part = published_part(stage.directory, "bytes");
      {
        const FaultySystem system(at, fault, EIO);
        (void)stage.directory.committed(part, false, 0).has_value();
        reached_end = system.calls() <= at;
      }
      INFO(at);
      const auto next = stage.directory.create_part(0);
      REQUIRE(next);
      REQUIRE(next->bytes.write_at(0, as_bytes("other")));
      if (stage.directory.is_in(State::published, part)) {
        CHECK(bytes_of(stage.directory, part) == "bytes");
      }
    }
  }
}
