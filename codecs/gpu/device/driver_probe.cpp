// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/device/driver_probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "codecs/gpu/device/driver.hpp"

namespace mcr::codecs::gpu {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int sign_number = 3;  ///< the child's descriptor of the pipe

/// This process's environment, in which the loader loads the driver, and nothing else, before the program begins.
std::vector<std::string> environment_with_driver() {
  constexpr std::string_view preload = "LD_PRELOAD=";
  std::vector<std::string> variables{std::string(preload) + driver_library};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(preload)) variables.emplace_back(*variable);
  }
  return variables;
}

/// Becomes the program. Called in the child of a process with other threads, so it calls only what such a child may call.
[[noreturn]] void become(char* const* arguments, char* const* environment, int sign) {
  // The child must not outlive this process, nor the thread that waits for it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (sign == sign_number) ::fcntl(sign, F_SETFD, 0);
  if (sign != sign_number) ::dup2(sign, sign_number);
  // The loader reports there that it finds no driver.
  const int null = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  ::syscall(SYS_close_range, sign_number + 1, ~0U, 0);
  ::execve(arguments[0], arguments, environment);
  ::_exit(127);
}

/// Starts a program that loads the driver, writes a byte into the pipe `sign`, and kills itself, because the driver's own
/// work at a regular end may hang. Returns -1 if it cannot be started.
pid_t start_loading(int sign) {
  std::vector<std::string> variables = environment_with_driver();
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::array<std::string, 3> words{"/bin/sh", "-c", "echo >&3; kill -KILL $$"};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  const pid_t child = ::fork();
  if (child == 0) become(arguments, environment.data(), sign);
  return child;
}

enum class Loading { done, ended, hangs };

/// Waits until the child writes into the pipe, or closes it.
Loading await_sign(int pipe, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left <= 0ms) return Loading::hangs;
    pollfd wanted{pipe, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(left.count())) <= 0) continue;
    char sign = 0;
    const ssize_t got = ::read(pipe, &sign, 1);
    if (got < 0 && errno == EINTR) continue;
    return got == 1 ? Loading::done : Loading::ended;
  }
}

/// Ends the child, and waits for its end, but only for a moment: it may hang in the kernel.
void end(pid_t child) {
  ::kill(child, SIGKILL);
  for (int i = 0; i < 100; ++i) {
    if (::waitpid(child, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

Result<void> probe_driver(std::chrono::milliseconds limit) {
  const auto begin = Clock::now();
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return {};  // nothing is known
  const pid_t child = start_loading(pipe[1]);
  ::close(pipe[1]);
  const Loading loading = child < 0 ? Loading::done : await_sign(pipe[0], begin + limit);
  ::close(pipe[0]);
  if (child > 0) end(child);
  if (loading == Loading::done) return {};
  const std::string why = loading == Loading::hangs
                              ? "could not be loaded within " + std::to_string(limit / 1s) + " s"
                              : "ends the process in which it is loaded";
  return Error{Cause::unsupported, std::string(driver_library) + " " + why};
}

}  // namespace mcr::codecs::gpu
