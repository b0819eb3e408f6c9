// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/adopted_leaders.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t most_children_bytes = 1U << 20;
constexpr auto look_every = std::chrono::milliseconds(20);

std::vector<pid_t> children() {
  const std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  const auto content = restart::read_file(AT_FDCWD, path, most_children_bytes);
  std::vector<pid_t> found;
  if (!content) return found;
  std::string_view text = as_text(*content);
  while (!text.empty()) {
    pid_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem == std::errc()) found.push_back(number);
    text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(end - text.data()) + 1));
  }
  return found;
}

}  // namespace

AdoptedLeaders::AdoptedLeaders() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

bool AdoptedLeaders::reap() {
  pid_t ended = 0;
  do {
    ended = ::waitpid(-1, nullptr, WNOHANG);
  } while (ended > 0 || (ended < 0 && errno == EINTR));
  return ended == 0;
}

void AdoptedLeaders::terminate() {
  for (const pid_t child : children())
    if (terminated_.insert(child).second) (void)::kill(child, SIGTERM);
}

void AdoptedLeaders::end(std::uint64_t idle_ms, std::uint64_t limit_ms) {
  const std::uint64_t begin_ms = restart::monotonic_ms();
  while (reap()) {
    const std::uint64_t now_ms = restart::monotonic_ms();
    if (now_ms >= begin_ms + idle_ms) terminate();
    if (now_ms >= begin_ms + idle_ms + limit_ms) return;
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace mcr::aggregation
