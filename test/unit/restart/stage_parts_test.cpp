// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>

#include <filesystem>

#include "restart/base/lock.hpp"
#include "restart/stage/stage.hpp"
#include "test/unit/restart/staged_parts.hpp"

using namespace mcr;
using namespace mcr::restart;
using State = LaunchDirectory::State;
namespace fs = std::filesystem;

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
  CHECK(stage.directory.free_part(made->part, {}));
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
    // While the writer has not put the stub in place, the part is locked.
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
  CHECK(stage.directory.mark_committed(part));
  CHECK(bytes_of(stage.directory, part) == "data");
  CHECK(stage.directory.free_part(part, 0));
  CHECK_FALSE(stage.directory.open_bytes(part));
  CHECK_FALSE(stage.directory.is_in(State::committed, part));
}

TEST_CASE("a small part may be empty, and a part that is too large is refused") {
  const TestStage stage;
  CHECK(bytes_of(stage.directory, small_part(stage.directory, "")).empty());
  const std::string most(max_content_bytes, 'x');
  CHECK(bytes_of(stage.directory, small_part(stage.directory, most)) == most);
  const PartId part = *PartId::random();
  CHECK_FALSE(stage.directory.publish_small(begin_of(part), final_publish(most.size() + 1),
                                            as_bytes(most + "x")));
  CHECK_FALSE(stage.directory.is_in(State::published, part));
}

TEST_CASE("a small part is ignored if its writer died at any byte of its journal") {
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

TEST_CASE("withdraw gives a small part back to its writer like any other") {
  const TestStage stage;
  const PartId part = small_part(stage.directory, "abc");
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

TEST_CASE("a part whose journal would exceed a reader's limits is not begun") {
  const TestStage stage;
  PartBegin begin = begin_of(*PartId::random());
  begin.settings = std::string(20'000, 'x');
  const auto journal = stage.directory.begin(begin);
  REQUIRE_FALSE(journal);
  CHECK(journal.error().cause == Cause::usage);
  CHECK(stage.directory.list(State::open)->empty());
}

TEST_CASE("a provisional publish leaves the part in open/, and the last record counts") {
  const TestStage stage;
  const auto made = stage.directory.create_part(0);
  REQUIRE(made);
  const auto journal = stage.directory.begin(begin_of(made->part));
  REQUIRE(journal);
  for (std::uint64_t size : {10U, 20U}) {
    CHECK(stage.directory.publish(made->part, *journal, {size, 1, true, false, {}, {}}));
  }
  CHECK(stage.directory.is_in(State::open, made->part));
  const auto read = stage.directory.journal(State::open, made->part);
  REQUIRE(read);
  CHECK(read->publish->size == 20);
  CHECK(read->publish->provisional);
}

TEST_CASE("after a hundred thousand flushes the journal can still be read") {
  const TestStage stage;
  const auto made = stage.directory.create_part(0);
  REQUIRE(made);
  const auto journal = stage.directory.begin(begin_of(made->part));
  REQUIRE(journal);
  for (std::uint64_t i = 1; i <= 100'000; ++i) {
    REQUIRE(stage.directory.publish(made->part, *journal, {i, 1, true, false, {}, {}}));
  }
  const auto read = stage.directory.journal(State::open, made->part);
  REQUIRE(read);
  CHECK(read->publish->size == 100'000);
  CHECK(read->begin.path == "/w/r0.h5");
}

TEST_CASE("a part that is being written cannot be read, a published part can") {
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

TEST_CASE("withdraw gives nothing if a reader or the leader was faster") {
  const bool is_small = GENERATE(false, true);
  const TestStage stage;
  const PartId part =
      is_small ? small_part(stage.directory, "abc") : published_part(stage.directory, "abc");
  SECTION("reader") {
    const auto reader = stage.directory.open_bytes(part);
    REQUIRE(reader);
    const auto withdrawn = stage.directory.withdraw(part);
    REQUIRE(withdrawn);
    CHECK_FALSE(withdrawn->has_value());
    CHECK(stage.directory.is_in(State::published, part));
  }
  SECTION("committed") {
    CHECK(stage.directory.mark_committed(part));
    const auto withdrawn = stage.directory.withdraw(part);
    REQUIRE(withdrawn);
    CHECK_FALSE(withdrawn->has_value());
    CHECK(bytes_of(stage.directory, part) == "abc");
  }
  SECTION("gone") {
    CHECK(stage.directory.free_part(part, {}));
    const auto withdrawn = stage.directory.withdraw(part);
    REQUIRE(withdrawn);
    CHECK_FALSE(withdrawn->has_value());
  }
}

TEST_CASE("a drained part's file becomes the next part's file") {
  const TestStage stage;
  const PartId old = published_part(stage.directory, "old bytes");
  CHECK(stage.directory.free_part(old, 3));
  CHECK_FALSE(stage.directory.open_bytes(old));
  const auto other = stage.directory.create_part(2);
  REQUIRE(other);
  CHECK(other->reused_bytes == 0);
  const auto next = stage.directory.create_part(3);
  REQUIRE(next);
  CHECK(next->reused_bytes == 9);
  CHECK(next->part != old);
}

TEST_CASE("the file of a part that a process reads is freed but never reused") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "read me");
  const auto reader = stage.directory.open_bytes(part);
  REQUIRE(reader);
  CHECK(stage.directory.free_part(part, 3));
  CHECK(as_text(*reader->read_all(100)) == "read me");
  const auto next = stage.directory.create_part(3);
  REQUIRE(next);
  CHECK(next->reused_bytes == 0);
}

TEST_CASE("a pooled file that a process still reads is not reused") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "read me");
  auto late = File::open(AT_FDCWD, stage.directory.path() + "/parts/" + part.text(), O_RDONLY);
  REQUIRE(late);
  CHECK(stage.directory.free_part(part, 3));
  CHECK(try_lock(*late, LockKind::shared).value_or(false));
  const auto next = stage.directory.create_part(3);
  REQUIRE(next);
  CHECK(next->reused_bytes == 0);
  CHECK(as_text(*late->read_all(100)) == "read me");
}

TEST_CASE("a pool has eight slots, and frees as many bytes as are asked for") {
  const TestStage stage;
  std::vector<PartId> parts;
  for (int i = 0; i < 10; ++i) {
    parts.push_back(published_part(stage.directory, std::string(10000, 'x')));
  }
  for (const PartId& part : parts) CHECK(stage.directory.free_part(part, 0));
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
  CHECK(stage.directory.mark_committed(part));
  CHECK(stage.directory.is_in(State::committed, part));
  CHECK(bytes_of(stage.directory, part) == "kept");
  CHECK(stage.directory.free_part(part, {}));
  CHECK_FALSE(stage.directory.is_in(State::committed, part));
  CHECK_FALSE(stage.directory.open_bytes(part));
}

TEST_CASE("drop removes journal and bytes") {
  const TestStage stage;
  const PartId part = published_part(stage.directory, "x");
  CHECK(stage.directory.drop(part));
  CHECK_FALSE(stage.directory.is_in(State::published, part));
  CHECK_FALSE(stage.directory.open_bytes(part));
  CHECK(stage.directory.drop(part));
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
