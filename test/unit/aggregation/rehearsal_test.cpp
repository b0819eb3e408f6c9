// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/rehearsal.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "test/support/catch.hpp"

using namespace mcr::aggregation;
using namespace std::chrono_literals;

namespace {

std::size_t children() {
  std::size_t count = 0;
  const std::string own = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  if (std::FILE* file = std::fopen(own.c_str(), "re")) {
    int child = 0;
    while (std::fscanf(file, "%d", &child) == 1) ++count;
    std::fclose(file);
  }
  return count;
}

}  // namespace

TEST_CASE("what goes well passes, and changes nothing here") {
  int changed = 0;
  Rehearsal rehearsal(3, [&](std::size_t) {
    ++changed;
    return std::string();
  });
  for (std::size_t i = 0; i < 3; ++i) CHECK(rehearsal.passes(i, 10s));
  CHECK(changed == 0);
}

TEST_CASE("steps that need no answer are passed over") {
  Rehearsal rehearsal(200, [](std::size_t i) { return i == 150 ? "no good" : std::string(); });
  CHECK(rehearsal.passes(3, 10s));
  CHECK(rehearsal.passes(149, 10s));
  const auto bad = rehearsal.passes(150, 10s);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message == "no good");
  CHECK(rehearsal.passes(199, 10s));
}

TEST_CASE("a crash is confined to the step that crashes") {
  Rehearsal rehearsal(4, [](std::size_t i) {
    if (i == 1) ::raise(SIGSEGV);
    if (i == 2) std::abort();
    return std::string();
  });
  CHECK(rehearsal.passes(0, 10s));
  for (const std::size_t bad : {1U, 2U}) {
    const auto crashed = rehearsal.passes(bad, 10s);
    REQUIRE_FALSE(crashed);
    CHECK(crashed.error().cause == mcr::Cause::damaged);
    CHECK(crashed.error().message.find("crashes") != std::string::npos);
  }
  CHECK(rehearsal.passes(3, 10s));
}

TEST_CASE("a step that never ends is ended") {
  const bool waits = GENERATE(false, true);
  Rehearsal rehearsal(2, [&](std::size_t i) {
    volatile unsigned spins = 0;
    while (i == 0 && waits) ::pause();
    while (i == 0 && !waits) spins = spins + 1;
    return std::string();
  });
  const auto late = rehearsal.passes(0, 50ms);
  REQUIRE_FALSE(late);
  CHECK(late.error().message.find("too long") != std::string::npos);
  CHECK(rehearsal.passes(1, 10s));
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a step gets no more memory than it may have") {
  Rehearsal rehearsal(
      1,
      [](std::size_t) {
        void* volatile much = std::malloc(std::size_t{1} << 30);  // clang would not ask for it
        const bool refused = much == nullptr;
        std::free(much);
        return std::string(refused ? "refused" : "");
      },
      std::size_t{64} << 20);
  const auto refused = rehearsal.passes(0, 10s);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "refused");
}
#endif

TEST_CASE("no child outlives the rehearsal, whatever it is doing") {
  const std::size_t before = children();
  {
    Rehearsal rehearsal(1000, [](std::size_t i) {
      if (i > 5) ::pause();
      return std::string();
    });
    CHECK(rehearsal.passes(2, 10s));
    CHECK(children() == before + 1);
  }
  CHECK(children() == before);
}
