// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/background_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "restart/base/exec_list.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;
using restart::system_error;

constexpr int look_ms = 10;

struct Pipe {
  File read, write;
};
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe", {});
  return Pipe{File(ends[0], "pipe"), File(ends[1], "pipe")};
}

Result<File> file_in_memory() {
  const int descriptor = ::memfd_create("mcr-step", MFD_CLOEXEC);
  if (descriptor < 0) return system_error("cannot make a file in memory", {});
  return File(descriptor, "memory");
}

/// Returns what the file has gained since `taken`, which is moved on.
std::string text_after(const File& file, std::uint64_t& taken) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got =
        ::pread(file.descriptor(), buffer.data(), buffer.size(), static_cast<off_t>(taken));
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    taken += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

Result<BackgroundProgram> BackgroundProgram::start(const std::vector<std::string>& words,
                                                   const std::vector<std::string>& variables,
                                                   Input input, Errors errors) {
  BackgroundProgram program;
  program.output_ = MCR_TRY(file_in_memory());
  if (errors == Errors::kept) program.errors_ = MCR_TRY(file_in_memory());
  Pipe in = MCR_TRY(make_pipe());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (input == Input::ends_with_us) {
    ::posix_spawn_file_actions_adddup2(&actions, in.read.descriptor(), STDIN_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&actions, program.output_.descriptor(), STDOUT_FILENO);
  if (errors == Errors::kept)
    ::posix_spawn_file_actions_adddup2(&actions, program.errors_.descriptor(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const int failed =
      ::posix_spawnp(&program.pid_, words.front().c_str(), &actions, &attributes,
                     restart::exec_list(words).data(), restart::exec_list(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    errno = failed;
    return system_error("cannot start", words.front());
  }
  if (input == Input::ends_with_us) program.input_ = std::move(in.write);
  return program;
}

std::optional<int> BackgroundProgram::status() {
  if (status_ || pid_ <= 0) return status_;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == pid_) status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (ended < 0 && errno != EINTR) status_ = 1;
  return status_;
}

bool BackgroundProgram::wait_for_end(const TimeLimit& limit) {
  while (!status()) {
    if (limit.left_ms() == 0) return false;
    ::poll(nullptr, 0, look_ms);
  }
  return true;
}

void BackgroundProgram::kill() {
  if (pid_ <= 0 || status()) return;
  constexpr std::uint64_t patience_ms = 1000;
  (void)::kill(-pid_, SIGTERM);
  if (wait_for_end(TimeLimit(patience_ms))) return;
  (void)::kill(-pid_, SIGKILL);
  (void)wait_for_end(TimeLimit(patience_ms));
}

std::string BackgroundProgram::take_output() { return text_after(output_, taken_); }

std::string BackgroundProgram::errors() const {
  std::uint64_t taken = 0;
  return errors_.is_open() ? text_after(errors_, taken) : std::string();
}

}  // namespace mcr::aggregation
