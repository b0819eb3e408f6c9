// SPDX-License-Identifier: BSD-3-Clause
// What a wait takes for the progress of a leader.
#include "restart/open/drain_progress.hpp"

#include <time.h>
#include <unistd.h>

#include <fstream>

#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr::restart;

namespace {

constexpr std::uint64_t still_ms = 1500;
constexpr uid_t neighbour = 64202;

void pause() {
  const timespec time{0, 300'000'000};
  ::nanosleep(&time, nullptr);
}

/// Returns how long a wait lasts while `act` is called again and again, with 0, 1, 2, ….
template <typename Act>
std::uint64_t waited_ms(const std::string& containers, Act act) {
  const std::uint64_t begin = monotonic_ms();
  DrainProgress progress(still_ms);
  for (int turn = 0; !progress.has_stopped({}, containers, ::geteuid()); ++turn) {
    act(turn);
    pause();
  }
  return monotonic_ms() - begin;
}

std::string container(int turn) {
  return "set-c_{rank}.h5.launch-" + std::to_string(turn) + ".r0-1.h5";
}

}  // namespace

TEST_CASE("new containers show progress, up to ten times the limit without progress") {
  const ScratchDirectory scratch;
  const auto waited = waited_ms(scratch.path(), [&](int turn) {
    if (turn < 10) std::ofstream(scratch / container(turn)).close();
  });
  CHECK(waited >= 3 * still_ms / 2);
  CHECK(waited < 10 * still_ms);
}

TEST_CASE("names that are no containers show no progress") {
  const ScratchDirectory scratch;
  std::ofstream(scratch / container(0)).close();
  const auto waited = waited_ms(scratch.path(), [&](int turn) {
    const std::string number = std::to_string(turn);
    std::ofstream(scratch / ("x" + number)).close();
    // a further name of a container that was there before
    CHECK(::link((scratch / container(0)).c_str(), (scratch / container(turn + 1)).c_str()) == 0);
  });
  CHECK(waited < 3 * still_ms);
}

TEST_CASE("another user's files show no progress") {
  if (::geteuid() != 0) return;  // only root can give files to another user
  const ScratchDirectory scratch;
  const auto waited = waited_ms(scratch.path(), [&](int turn) {
    for (const std::string& name : {container(turn), ".mcr-" + std::to_string(turn) + ".tmp"}) {
      std::ofstream(scratch / name) << "content";
      CHECK(::chown((scratch / name).c_str(), neighbour, neighbour) == 0);
    }
  });
  CHECK(waited < 3 * still_ms);
}
