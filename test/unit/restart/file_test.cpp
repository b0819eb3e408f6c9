// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "restart/base/lock.hpp"
#include "restart/base/log.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/faults.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

File make(const ScratchDirectory& scratch, const std::string& name, int flags = 0) {
  auto file = File::open(AT_FDCWD, scratch / name, O_RDWR | O_CREAT | flags);
  REQUIRE(file);
  return std::move(*file);
}

std::string content(const File& file) {
  const auto bytes = file.read_all(1 << 20);
  REQUIRE(bytes);
  return std::string(as_text(*bytes));
}

}  // namespace

TEST_CASE("bytes that were written at an offset are read from that offset") {
  const ScratchDirectory scratch;
  const File file = make(scratch, "a");
  CHECK(file.write_at(3, as_bytes("hello")));
  CHECK(content(file) == std::string(3, '\0') + "hello");
  Bytes out(5);
  CHECK(file.read_at(3, out));
  CHECK(as_text(out) == "hello");
}

TEST_CASE("a read beyond the end says that the file ends too early") {
  const ScratchDirectory scratch;
  const File file = make(scratch, "a");
  CHECK(file.write_at(0, as_bytes("abc")));
  Bytes out(5);
  const auto read = file.read_at(0, out);
  REQUIRE_FALSE(read);
  CHECK(read.error().cause == Cause::damaged);
  CHECK(file.read_some_at(0, out).value_or(0) == 3);
  CHECK_FALSE(file.read_at(~std::uint64_t{0}, out));
}

TEST_CASE("interrupted and short transfers are repeated") {
  const ScratchDirectory scratch;
  for (const Fault fault : {Fault::interrupted, Fault::short_transfer}) {
    for (long at = 0; at < 12; ++at) {
      const FaultySystem system(at, fault);
      const std::string name = "f" + std::to_string(at) + (fault == Fault::interrupted ? "i" : "s");
      const File file = make(scratch, name, O_APPEND);
      CHECK(file.append(as_bytes("one")));
      CHECK(file.append(as_bytes("two")));
      CHECK(file.truncate(5));
      CHECK(file.sync());
      CHECK(content(file) == "onetw");
      CHECK(try_lock(file, LockKind::exclusive).value_or(false));
    }
  }
}

TEST_CASE("an append that fails half-way leaves the file as it was") {
  const ScratchDirectory scratch;
  const File file = make(scratch, "a", O_APPEND);
  CHECK(file.append(as_bytes("whole")));
  static int writes = 0;
  writes = 0;
  SystemCalls calls = real_system_calls();
  calls.write = [](int descriptor, const void* data, std::size_t bytes) -> ssize_t {
    if (writes++ == 0) return real_system_calls().write(descriptor, data, bytes / 2);
    errno = ENOSPC;
    return -1;
  };
  {
    const ReplacedSystemCalls replaced(calls);
    const auto appended = file.append(as_bytes("torn record"));
    REQUIRE_FALSE(appended);
    CHECK(appended.error().cause == Cause::full);
  }
  CHECK(content(file) == "whole");
}

TEST_CASE("a write that transfers nothing and reports no error is an error, not a hang") {
  const ScratchDirectory scratch;
  const File file = make(scratch, "a");
  SystemCalls calls = real_system_calls();
  calls.pwrite = [](int, const void*, std::size_t, off_t) -> ssize_t { return 0; };
  calls.write = [](int, const void*, std::size_t) -> ssize_t { return 0; };
  const ReplacedSystemCalls replaced(calls);
  CHECK_FALSE(file.write_at(0, as_bytes("x")));
  CHECK_FALSE(file.append(as_bytes("x")));
}

TEST_CASE(
    "an error contains the name and the text of errno; lack of space has a cause of its own") {
  const auto missing = File::open(AT_FDCWD, "/nowhere/at/all", O_RDONLY);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().system_error == ENOENT);
  CHECK(missing.error().message == "cannot open /nowhere/at/all: No such file or directory");
  for (const int number : {ENOSPC, EDQUOT}) {
    errno = number;
    CHECK(system_error("cannot write", "x").cause == Cause::full);
  }
}

TEST_CASE("a file is read whole only up to a limit") {
  const ScratchDirectory scratch;
  const File file = make(scratch, "a");
  CHECK(file.write_at(0, as_bytes(std::string(100, 'x'))));
  CHECK(file.read_all(100).value_or(Bytes{}).size() == 100);
  const auto read = file.read_all(99);
  REQUIRE_FALSE(read);
  CHECK(read.error().cause == Cause::damaged);
  CHECK(read_file(AT_FDCWD, "/proc/self/status", 1 << 20).value_or(Bytes{}).size() > 100);
  CHECK_FALSE(read_file(AT_FDCWD, "/dev/zero", 1 << 16));
}

TEST_CASE("a named pipe at the path does not block") {
  const ScratchDirectory scratch;
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(read_file(AT_FDCWD, scratch / "pipe", 100));
}

TEST_CASE("a directory is listed in order, without itself") {
  const ScratchDirectory scratch;
  (void)make(scratch, "b");
  (void)make(scratch, "a");
  (void)make(scratch, ".c");
  const auto names = list_directory(AT_FDCWD, scratch.path());
  REQUIRE(names);
  CHECK(*names == std::vector<std::string>{".c", "a", "b"});
  CHECK_FALSE(list_directory(AT_FDCWD, scratch / "a"));
}

TEST_CASE("descriptors are closed on exec, and closed only once") {
  const ScratchDirectory scratch;
  File file = make(scratch, "a");
  CHECK((::fcntl(file.descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
  const int number = file.descriptor();
  File moved = std::move(file);
  CHECK_FALSE(file.is_open());  // NOLINT(*use-after-move*)
  moved = File();
  CHECK(::fcntl(number, F_GETFD) == -1);
}

TEST_CASE("a lock belongs to one open of a file, not to the process") {
  const ScratchDirectory scratch;
  const File one = make(scratch, "a");
  File two = make(scratch, "a");
  CHECK(try_lock(one, LockKind::exclusive).value_or(false));
  CHECK_FALSE(try_lock(two, LockKind::shared).value_or(true));
  unlock(one);
  CHECK(try_lock(two, LockKind::shared).value_or(false));
  CHECK(try_lock(one, LockKind::shared).value_or(false));
  CHECK_FALSE(try_lock(one, LockKind::exclusive).value_or(true));
  two = File();
  CHECK(try_lock(one, LockKind::exclusive).value_or(false));
}

TEST_CASE("messages are lines without control characters; a warning is logged once per topic") {
  const ScratchDirectory scratch;
  const File log = make(scratch, "log", O_APPEND);
  set_log_descriptor(log.descriptor());
  set_log_level(LogLevel::summary);
  log_debug("not said");
  log_summary("a\x1b[31m\nb");
  log_warning_once("topic", "first");
  log_warning_once("topic", "second");
  log_warning_once("other", "third");
  set_log_level(LogLevel::quiet);
  log_warning("silent");
  set_log_level(LogLevel::debug);
  log_debug("said");
  set_log_level(LogLevel::summary);
  set_log_descriptor(STDERR_FILENO);
  const std::string text = content(log);
  CHECK(text.find("mcr: a\\033[31m\\nb\n") != std::string::npos);
  CHECK(text.find("first") != std::string::npos);
  CHECK(text.find("second") == std::string::npos);
  CHECK(text.find("third") != std::string::npos);
  CHECK(text.find("silent") == std::string::npos);
  CHECK(text.find("not said") == std::string::npos);
  CHECK(text.find("mcr: said\n") != std::string::npos);
}

TEST_CASE("a message to a pipe without a reader does not end the program") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  set_log_descriptor(ends[1]);
  log_warning("nobody hears this");
  set_log_descriptor(STDERR_FILENO);
  ::close(ends[1]);
  sigset_t pending;
  REQUIRE(::sigpending(&pending) == 0);
  CHECK(::sigismember(&pending, SIGPIPE) == 0);
}
