// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/device/driver_probe.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "codecs/gpu/device/driver.hpp"

namespace mcr::codecs::gpu {
namespace {

using namespace std::chrono_literals;

/// This process's environment, in which the loader loads the driver, and nothing else, before the program begins.
std::vector<std::string> environment_with_driver() {
  constexpr std::string_view preload = "LD_PRELOAD=";
  std::vector<std::string> variables{std::string(preload) + driver_library};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(preload)) variables.emplace_back(*variable);
  }
  return variables;
}

/// Starts a program that loads the driver and kills itself, because the driver's own work at a regular end may hang.
/// Returns -1 if it cannot be started.
pid_t start_loading() {
  std::vector<std::string> variables = environment_with_driver();
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::array<std::string, 3> words{"/bin/sh", "-c", "kill -KILL $$"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // The loader reports there that it finds no driver.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  pid_t child = -1;
  const int failed =
      ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments, environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? child : -1;
}

/// Waits for the child's end, at most until `end`. Returns its status as waitpid() gives it; nothing if it has not ended. A
/// process that ignores SIGCHLD cannot learn the status (ECHILD): it gets that of the regular end.
std::optional<int> status_of(pid_t child, std::chrono::steady_clock::time_point end) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return SIGKILL;
    if (std::chrono::steady_clock::now() >= end) return std::nullopt;
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

Result<void> probe_driver(std::chrono::milliseconds limit) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = start_loading();
  if (child < 0) return {};  // nothing is known
  const auto status = status_of(child, begin + limit);
  if (!status) {
    ::kill(child, SIGKILL);
    // Only for a moment: the child may hang in the kernel.
    (void)status_of(child, std::chrono::steady_clock::now() + 100ms);
    return Error{Cause::unsupported, std::string(driver_library) + " could not be loaded within " +
                                         std::to_string(limit / 1s) + " s"};
  }
  if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL) return {};
  return Error{Cause::unsupported,
               std::string(driver_library) + " ends the process in which it is loaded"};
}

}  // namespace mcr::codecs::gpu
