// SPDX-License-Identifier: BSD-3-Clause
// The two sides of a transfer, in one process: a sender whose buddy is this process, and a receiver.
#include "aggregation/team/team.hpp"

#include <string>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/aggregation/team_of_one.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using aggregation::Receiver;
using aggregation::Sender;
using restart::TeamDirectory;
using Box = restart::TeamDirectory::Box;
using Names = std::vector<std::string>;

namespace {

constexpr const char* name = "here.first.1";

struct Nodes {
  restart::ScratchDirectory scratch;
  TeamDirectory own = *TeamDirectory::make(scratch / "own");
  TeamDirectory other = *TeamDirectory::make(scratch / "other");
  Sender sender{&own, aggregation::team_of_one(), 0};
  Receiver receiver;

  explicit Nodes(bool takes_replicas = true)
      : receiver(takes_replicas ? &other : nullptr, aggregation::team_of_one(), 0) {}
  // An unanswered receive would stay posted, and match a message of the next test.
  ~Nodes() { end(); }
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  void offer(const std::string& content) {
    const auto file = own.create(Box::made, name);
    REQUIRE(file);
    REQUIRE(file->write_at(0, as_bytes(content)));
    REQUIRE(own.move(name, Box::made, Box::out));
  }
  /// Until nothing happens any more.
  void go_on() {
    for (int idle = 0; idle < 100; ++idle) {
      if (sender.go_on() || receiver.go_on()) idle = 0;
    }
  }
  void end() {
    for (int turn = 0; turn < 1000 && !receiver.has_ended(); ++turn) {
      go_on();
      (void)sender.finish();
    }
  }
  [[nodiscard]] std::string held() const {
    const auto file = other.open(Box::held, name);
    return file ? std::string(as_text(*file->read_all(1U << 30))) : "none";
  }
};

}  // namespace

TEST_CASE("a replica of several pieces arrives byte for byte, and is held until storage has it") {
  Nodes nodes;
  std::string content((9U << 20) + 5, 'x');
  for (std::size_t i = 0; i < content.size(); i += 4099) content[i] = static_cast<char>(i);
  nodes.offer(content);
  nodes.go_on();
  CHECK(nodes.held() == content);
  CHECK(*nodes.own.list(Box::sent) == Names{name});
  CHECK(nodes.own.list(Box::out)->empty());
  CHECK(nodes.other.list(Box::made)->empty());
  REQUIRE(nodes.own.remove(Box::sent, name));  // the leader: storage has it
  nodes.go_on();
  CHECK(nodes.other.list(Box::held)->empty());
}

TEST_CASE("an empty file, and a further attempt under the same name, are sent too") {
  Nodes nodes;
  nodes.offer("");
  nodes.go_on();
  CHECK(nodes.held().empty());
  REQUIRE(nodes.own.remove(Box::sent, name));
  nodes.offer("second");
  nodes.go_on();
  CHECK(nodes.held() == "second");
}

TEST_CASE("a replica that is withdrawn on its way is not held") {
  Nodes nodes;
  nodes.offer(std::string(20U << 20, 'x'));
  for (int turn = 0; turn < 3; ++turn) {
    nodes.sender.go_on();
    nodes.receiver.go_on();
  }
  REQUIRE(nodes.sender.is_at_work());
  REQUIRE(nodes.own.remove(Box::out, name));
  nodes.go_on();
  CHECK(nodes.held() == "none");
  CHECK(nodes.own.list(Box::sent)->empty());
}

TEST_CASE(
    "a buddy that refuses is not asked again for that file, but for the next one of its name") {
  Nodes nodes(false);
  nodes.offer("first");
  nodes.go_on();
  CHECK(*nodes.own.list(Box::refused) == Names{name});
  CHECK_FALSE(nodes.sender.go_on());
  nodes.offer("second");
  CHECK(nodes.sender.go_on());
  nodes.go_on();
  CHECK(nodes.own.list(Box::sent)->empty());
  CHECK(nodes.held() == "none");
}

TEST_CASE("the end comes after everything that waited to be sent") {
  Nodes nodes;
  nodes.offer("last");
  CHECK_FALSE(nodes.sender.finish());
  for (int turn = 0; turn < 100; ++turn) nodes.receiver.go_on();
  CHECK_FALSE(nodes.receiver.has_ended());
  nodes.end();
  CHECK(nodes.receiver.has_ended());
  CHECK(nodes.held() == "last");
}
