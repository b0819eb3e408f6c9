// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <initializer_list>
#include <optional>

#include "restart/stage/stage.hpp"
#include "test/unit/restart/faults.hpp"
#include "test/unit/restart/staged_parts.hpp"

using namespace mcr;
using namespace mcr::restart;
using State = LaunchDirectory::State;

namespace {

/// Calls life(fault, at) for each fault, with at = 0, 1, …: only system call number `at` fails.
/// Stops when `life` returns false, because it made fewer calls.
template <typename Life>
void with_each_call_failing(std::initializer_list<Fault> faults, const Life& life) {
  for (const Fault fault : faults) {
    for (long at = 0; life(fault, at); ++at) {
    }
  }
}

}  // namespace

// Every system call in the life of a part fails once, in every way. The current operation may then
// report an error. Not allowed are a crash, a hang, a published part with other bytes than were
// written, a part in two states, or an error that prevents the next part's life.
TEST_CASE("whatever call fails in a part's life, a part in published/ is whole") {
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
          MCR_TRY(directory.publish(made.part, journal, {11, 1, true, false, {}, {}}));
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
      // The stage must still work for another part.
      const PartId next = published_part(*directory, "next");
      CHECK(bytes_of(*directory, next) == "next");
    }
  }
}

TEST_CASE("whatever call fails, a small part is published whole or not at all") {
  with_each_call_failing(
      {Fault::error, Fault::interrupted, Fault::short_transfer}, [&](Fault fault, long at) {
        bool reached_end = false;
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
        return !reached_end;
      });
}

TEST_CASE("whatever call fails in withdraw(), the part is still published, or its writer has it") {
  const bool is_small = GENERATE(false, true);
  with_each_call_failing({Fault::error, Fault::interrupted, Fault::short_transfer}, [&](Fault fault,
                                                                                        long at) {
    bool reached_end = false;
    const TestStage stage;
    const PartId part =
        is_small ? small_part(stage.directory, "bytes") : published_part(stage.directory, "bytes");
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
    return !reached_end;
  });
}

TEST_CASE("whatever call fails in free_part(), no journal leads to another part's bytes") {
  with_each_call_failing({Fault::error, Fault::interrupted}, [&](Fault fault, long at) {
    bool reached_end = false;
    const TestStage stage;
    const PartId part = published_part(stage.directory, "bytes");
    {
      const FaultySystem system(at, fault, EIO);
      (void)stage.directory.free_part(part, 0).has_value();
      reached_end = system.calls() <= at;
    }
    INFO(at);
    const auto next = stage.directory.create_part(0);
    REQUIRE(next);
    REQUIRE(next->bytes.write_at(0, as_bytes("other")));
    if (stage.directory.is_in(State::published, part)) {
      CHECK(bytes_of(stage.directory, part) == "bytes");
    }
    return !reached_end;
  });
}
