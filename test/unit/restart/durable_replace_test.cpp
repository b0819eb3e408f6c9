// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/durable_replace.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/faults.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

struct Place {
  ScratchDirectory scratch;
  File directory = *File::open(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY);

  [[nodiscard]] int descriptor() const { return directory.descriptor(); }
  [[nodiscard]] std::string text(const std::string& name) const {
    const auto content = read_file(descriptor(), name, 1 << 20);
    return content ? std::string(as_text(*content)) : "missing";
  }
  [[nodiscard]] std::vector<std::string> names() const {
    return *list_directory(descriptor(), ".");
  }
};

}  // namespace

TEST_CASE("finish_over() replaces one given file, and no other file that got the name meanwhile") {
  const Place place;
  REQUIRE(replace_file(place.descriptor(), "a", as_bytes("old"), 0640, Durability::none));
  const File old = *File::open(place.descriptor(), "a", O_RDONLY);
  const auto put = [&](const std::function<bool()>& may_go) {
    auto pending = *PendingFile::create(place.descriptor(), "a", 0640);
    REQUIRE(pending.file().write_at(0, as_bytes("new")));
    return pending.finish_over(old, may_go);
  };
  const auto always = [] { return true; };
  std::string expected = "old";
  bool is_done = false;
  SECTION("the file is at the name") {
    is_done = *put(always);
    expected = "new";
    CHECK(is_done);
  }
  SECTION("the file must stay") {
    is_done = *put([] { return false; });
  }
  SECTION("the file has changed when its name leads to the new file already") {
    int asked = 0;
    is_done = *put([&] { return ++asked == 1; });
    CHECK(asked == 2);
  }
  SECTION("another file got the name in the last moment") {
    int asked = 0;
    is_done = *put([&] {
      if (++asked == 1)
        REQUIRE(replace_file(place.descriptor(), "a", as_bytes("other"), 0640, Durability::none));
      return true;
    });
    expected = "other";
  }
  SECTION("the file was removed in the last moment") {
    is_done = *put([&] { return ::unlinkat(place.descriptor(), "a", 0) == 0; });
    CHECK(place.names().empty());
    CHECK_FALSE(is_done);
    return;
  }
  SECTION("the file system cannot exchange names") {
    SystemCalls calls = real_system_calls();
    calls.rename_exchange = [](int, const char*, int, const char*) {
      errno = EINVAL;
      return -1;
    };
    const ReplacedSystemCalls in_use(calls);
    is_done = *put(always);
    expected = "new";
    CHECK(is_done);
  }
  CHECK(place.text("a") == expected);
  CHECK(is_done == (expected == "new"));
  CHECK(place.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a file appears whole and leaves nothing beside it") {
  const Place place;
  for (const Durability durability : {Durability::none, Durability::durable}) {
    CHECK(replace_file(place.descriptor(), "a", as_bytes("one"), 0640, durability));
    CHECK(place.text("a") == "one");
    CHECK(replace_file(place.descriptor(), "a", as_bytes("two"), 0640, durability));
    CHECK(place.text("a") == "two");
    CHECK(place.names() == std::vector<std::string>{"a"});
  }
}

TEST_CASE("a name that must be free is taken only once") {
  const Place place;
  CHECK(replace_file(place.descriptor(), "a", as_bytes("first"), 0600, Durability::durable,
                     Existing::kept));
  const auto second = replace_file(place.descriptor(), "a", as_bytes("second"), 0600,
                                   Durability::durable, Existing::kept);
  REQUIRE_FALSE(second);
  CHECK(second.error().system_error == EEXIST);
  CHECK(place.text("a") == "first");
  CHECK(place.names() == std::vector<std::string>{"a"});
}

/// The calls of a file system without a rename that replaces nothing.
SystemCalls without_rename_new() {
  SystemCalls calls = real_system_calls();
  calls.rename_new = [](int, const char*, int, const char*) {
    errno = EINVAL;
    return -1;
  };
  return calls;
}

TEST_CASE(
    "a name that must be free is taken only once, even without a rename that replaces nothing") {
  const Place place;
  const SystemCalls calls = without_rename_new();
  const ReplacedSystemCalls replaced(calls);
  CHECK(replace_file(place.descriptor(), "a", as_bytes("first"), 0600, Durability::none,
                     Existing::kept));
  const auto second = replace_file(place.descriptor(), "a", as_bytes("second"), 0600,
                                   Durability::none, Existing::kept);
  REQUIRE_FALSE(second);
  CHECK(second.error().system_error == EEXIST);
  CHECK(place.text("a") == "first");
  CHECK(place.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a hard link counts as made if the answer to link() got lost") {
  const Place place;
  SystemCalls calls = without_rename_new();
  calls.linkat = [](int a, const char* b, int c, const char* d, int flags) {
    (void)real_system_calls().linkat(a, b, c, d, flags);
    errno = EEXIST;
    return -1;
  };
  const ReplacedSystemCalls replaced(calls);
  CHECK(replace_file(place.descriptor(), "a", as_bytes("first"), 0600, Durability::durable,
                     Existing::kept));
  CHECK(place.text("a") == "first");
  CHECK(place.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a file with two names keeps both if another file has the name that must be free") {
  const Place place;
  REQUIRE(replace_file(place.descriptor(), "old", as_bytes("ours"), 0600, Durability::none));
  REQUIRE(::linkat(place.descriptor(), "old", place.descriptor(), "second", 0) == 0);
  REQUIRE(replace_file(place.descriptor(), "taken", as_bytes("other"), 0600, Durability::none));
  const auto file = File::open(place.descriptor(), "old", O_RDONLY);
  REQUIRE(file);
  for (const bool has_rename : {true, false}) {
    const SystemCalls calls = has_rename ? real_system_calls() : without_rename_new();
    const ReplacedSystemCalls replaced(calls);
    const auto moved =
        put_at_free_name(*file, place.descriptor(), "old", place.descriptor(), "taken");
    REQUIRE_FALSE(moved);
    CHECK(moved.error().system_error == EEXIST);
    CHECK(place.names() == std::vector<std::string>{"old", "second", "taken"});
    CHECK(place.text("taken") == "other");
  }
}

TEST_CASE("a pending file that is never finished leaves nothing") {
  const Place place;
  {
    const auto pending = PendingFile::create(place.descriptor(), "a", 0600);
    REQUIRE(pending);
    CHECK(place.names().size() == 1);
    CHECK(place.names()[0].starts_with(".mcr-"));
  }
  CHECK(place.names().empty());
}

TEST_CASE("a name may have a directory in front") {
  const Place place;
  REQUIRE(::mkdirat(place.descriptor(), "d", 0700) == 0);
  CHECK(replace_file(place.descriptor(), "d/a", as_bytes("x"), 0600, Durability::durable));
  CHECK(place.text("d/a") == "x");
  CHECK(*list_directory(place.descriptor(), "d") == std::vector<std::string>{"a"});
}

TEST_CASE("a file that another process made at the temporary name never gets the final name") {
  const Place place;
  auto pending = PendingFile::create(place.descriptor(), "a", 0600, "fixed");
  REQUIRE(pending);
  REQUIRE(::unlinkat(place.descriptor(), ".mcr-fixed.tmp", 0) == 0);
  const auto other = File::open(place.descriptor(), ".mcr-fixed.tmp", O_RDWR | O_CREAT, 0600);
  REQUIRE(other);
  const auto finished = pending->finish(Durability::durable);
  REQUIRE_FALSE(finished);
  CHECK(finished.error().system_error == ENOENT);
  CHECK_FALSE(File::open(place.descriptor(), "a", O_RDONLY));
}

TEST_CASE("a directory at the temporary name does not prevent the write") {
  const Place place;
  REQUIRE(::mkdirat(place.descriptor(), ".mcr-fixed.tmp", 0700) == 0);
  auto pending = PendingFile::create(place.descriptor(), "a", 0600, "fixed");
  REQUIRE(pending);
  CHECK(pending->temporary_name() != ".mcr-fixed.tmp");
  REQUIRE(pending->file().write_at(0, as_bytes("x")));
  CHECK(pending->finish(Durability::durable));
  CHECK(place.text("a") == "x");
}

TEST_CASE("an unsynced file is never given its name when sync fails") {
  const Place place;
  CHECK(replace_file(place.descriptor(), "a", as_bytes("old"), 0600, Durability::durable));
  SystemCalls calls = real_system_calls();
  calls.fsync = [](int) {
    errno = EIO;
    return -1;
  };
  const ReplacedSystemCalls replaced(calls);
  CHECK_FALSE(replace_file(place.descriptor(), "a", as_bytes("new"), 0600, Durability::durable));
  CHECK(place.text("a") == "old");
}

TEST_CASE("whatever call fails, the name leads to the whole old file or the whole new file") {
  for (const Existing existing : {Existing::replaced, Existing::kept}) {
    for (const Fault fault : {Fault::error, Fault::interrupted, Fault::short_transfer}) {
      bool reached_end = false;
      for (long at = 0; !reached_end; ++at) {
        const Place place;
        const bool had_old = existing == Existing::replaced;
        if (had_old)
          CHECK(replace_file(place.descriptor(), "a", as_bytes("the old file"), 0600,
                             Durability::none));
        bool said_done = false;
        {
          const FaultySystem system(at, fault, ENOSPC);
          said_done = replace_file(place.descriptor(), "a", as_bytes("the new file"), 0600,
                                   Durability::durable, existing)
                          .has_value();
          reached_end = system.calls() <= at;
          INFO(system.hit());
          if (reached_end) CHECK(said_done);
        }
        INFO(at);
        const std::string now = place.text("a");
        if (said_done) {
          CHECK(now == "the new file");
        } else {
          CHECK((now == (had_old ? "the old file" : "missing") || now == "the new file"));
        }
      }
    }
  }
}

TEST_CASE("a temporary file that a dead process left is removed when the file is made again") {
  const Place place;
  REQUIRE(replace_file(place.descriptor(), ".mcr-word.tmp", as_bytes("half of it"), 0600,
                       Durability::none));
  {
    auto pending = PendingFile::create(place.descriptor(), "a", 0600, "word");
    REQUIRE(pending);
    CHECK(pending->temporary_name() == ".mcr-word.tmp");
    CHECK(*pending->file().size() == 0);
    REQUIRE(pending->finish(Durability::none));
  }
  CHECK(place.names() == std::vector<std::string>{"a"});
}
