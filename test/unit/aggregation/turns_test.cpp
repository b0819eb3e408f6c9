// SPDX-License-Identifier: BSD-3-Clause
// Turns to write, in a team of one process: it gives the turns, and asks for the leaders of two nodes.
#include "aggregation/team/turns.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "restart/base/lock.hpp"
#include "test/support/catch.hpp"
#include "test/unit/aggregation/team_of_one.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using aggregation::TurnGiver;
using aggregation::TurnTaker;
using restart::TeamDirectory;
using Box = restart::TeamDirectory::Box;

namespace {

struct Node {
  explicit Node(std::size_t writers, TurnGiver::Clock::duration longest = std::chrono::minutes(10))
      : giver(aggregation::team_of_one(), writers, longest) {}
  ~Node() { end(); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  restart::ScratchDirectory scratch;
  TeamDirectory place = *TeamDirectory::make(scratch / "stage");
  TurnGiver giver;
  TurnTaker taker{&place, aggregation::team_of_one(), 0};

  /// A leader that asks for a turn and lives as long as the file is open.
  restart::File ask(const std::string& name) const {
    auto file = *place.create(Box::made, name);
    REQUIRE(*restart::try_lock(file, restart::LockKind::exclusive));
    REQUIRE(place.move(name, Box::made, Box::asked));
    return file;
  }
  /// Until nothing happens any more.
  void go_on() {
    for (int idle = 0; idle < 100; ++idle) {
      const bool has_taken = taker.go_on();
      if (giver.go_on() || has_taken) idle = 0;
    }
  }
  void end() {
    for (int turn = 0; turn < 1000 && !(taker.finish() && giver.is_done()); ++turn) go_on();
  }
  /// As the leader does at the end of its commit.
  void end_turn(const std::string& name) const { REQUIRE(place.remove(Box::given, name)); }
  [[nodiscard]] bool has_turn(const std::string& name) const { return place.has(Box::given, name); }
};

}  // namespace

TEST_CASE("with one writer, the second leader gets its turn when the first one has ended its own") {
  Node node(1);
  const auto first = node.ask("a");
  node.go_on();
  const auto second = node.ask("b");
  node.go_on();
  CHECK(node.has_turn("a"));
  CHECK_FALSE(node.has_turn("b"));
  node.end_turn("a");
  node.go_on();
  CHECK(node.has_turn("b"));
  node.end_turn("b");
  node.go_on();
  CHECK(node.giver.is_done());
}

TEST_CASE("with two writers, two leaders write at a time, and the third waits") {
  Node node(2);
  const auto one = node.ask("a");
  const auto two = node.ask("b");
  const auto three = node.ask("c");
  node.go_on();
  CHECK(node.has_turn("a"));
  CHECK(node.has_turn("b"));
  CHECK_FALSE(node.has_turn("c"));
}

TEST_CASE("a leader that dies with its turn, or while it waits, keeps none") {
  Node node(1);
  std::optional first = node.ask("a");
  node.go_on();
  std::optional second = node.ask("b");
  const auto third = node.ask("c");
  node.go_on();
  second.reset();
  first.reset();
  node.go_on();
  CHECK_FALSE(node.has_turn("a"));
  CHECK_FALSE(node.has_turn("b"));
  CHECK(node.has_turn("c"));
  CHECK_FALSE(node.place.has(Box::asked, "b"));
}

TEST_CASE("a leader that gives up before its turn comes costs no turn") {
  Node node(1);
  const auto first = node.ask("a");
  node.go_on();
  const auto second = node.ask("b");
  node.go_on();
  REQUIRE(node.place.remove(Box::asked, "b"));
  node.end_turn("a");
  node.go_on();
  CHECK(node.giver.is_done());
}

TEST_CASE("a leader that asks again at once, under the same name, costs no turn") {
  Node node(2);
  std::optional first = node.ask("a");
  node.go_on();
  REQUIRE(node.has_turn("a"));
  // Its next commit asks before the team has seen the end of the last one.
  node.end_turn("a");
  first = node.ask("a");
  node.go_on();
  CHECK(node.has_turn("a"));
  node.end_turn("a");
  node.go_on();
  CHECK(node.giver.is_done());
}

TEST_CASE("leaders of one node get their turns in the order in which they asked") {
  Node node(1);
  const auto first = node.ask("m");
  node.go_on();
  const auto second = node.ask("z");
  node.go_on();
  const auto third = node.ask("a");
  node.go_on();
  node.end_turn("m");
  node.go_on();
  CHECK(node.has_turn("z"));
  CHECK_FALSE(node.has_turn("a"));
}

TEST_CASE("a turn that lasts too long counts as back, once") {
  using namespace std::chrono_literals;
  Node node(1, 2s);
  const auto first = node.ask("a");
  node.go_on();
  const auto second = node.ask("b");
  node.go_on();
  const auto third = node.ask("c");
  node.go_on();
  std::this_thread::sleep_for(2100ms);
  node.go_on();
  CHECK(node.has_turn("b"));
  CHECK_FALSE(node.has_turn("c"));
  // The end of the first turn, which counted as back before, is not the end of the second one.
  node.end_turn("a");
  node.taker.go_on();
  node.giver.go_on();
  node.taker.go_on();
  CHECK_FALSE(node.has_turn("c"));
  node.end_turn("b");
  node.go_on();
  CHECK(node.has_turn("c"));
}

TEST_CASE("a node that ends gives its turns back, and leaders see that it gives none") {
  Node node(1);
  const auto first = node.ask("a");
  const auto second = node.ask("b");
  node.go_on();
  CHECK(node.place.gives_turns());
  node.end();
  CHECK_FALSE(node.place.gives_turns());
  CHECK(node.giver.is_done());
}
