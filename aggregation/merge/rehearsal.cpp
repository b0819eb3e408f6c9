// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/rehearsal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

namespace mcr::aggregation {
namespace {

/// Its length fits a byte.
constexpr std::size_t longest_answer = 255;

/// What the process has mapped now; a limit counts from there.
std::size_t mapped_bytes() {
  std::size_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::string told(int status, bool late) {
  if (late) return "takes too long over it";
  if (WIFSIGNALED(status))
    return std::string("crashes over it (") + ::strsignal(WTERMSIG(status)) + ")";
  return "ends over it with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Rehearsal::~Rehearsal() { end(nullptr); }

Result<void> Rehearsal::passes(std::size_t item) {
  if (child_ < 0) begin(item);
  if (child_ < 0) return {};
  std::string answer;
  for (; done_ <= item; ++done_) {
    const Heard heard = hear(answer);
    if (heard == Heard::answer) continue;
    int status = 0;
    end(&status);
    return Error{Cause::damaged, "HDF5 " + told(status, heard == Heard::nothing)};
  }
  if (!answer.empty()) return Error{Cause::damaged, answer};
  return {};
}

void Rehearsal::begin(std::size_t item) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ == 0) {
    // Nobody's death leaves it behind, and its own leaves no core of the leader's size.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    run(item, ends[1]);
  }
  ::close(ends[1]);
  if (child_ < 0) {
    ::close(ends[0]);
    return;
  }
  progress_ = ends[0];
  done_ = item;
}

void Rehearsal::run(std::size_t first, int out) {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  const struct rlimit no_core {};
  ::setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__)  // whose shadow takes terabytes of addresses
  const rlim_t most = mapped_bytes() + limits_.memory_bytes;
  const struct rlimit memory { most, most };
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  for (std::size_t item = first; item < count_; ++item) {
    std::string answer = step_(item).substr(0, longest_answer);
    answer.insert(answer.begin(), static_cast<char>(answer.size()));
    for (std::size_t at = 0; at < answer.size();) {
      const ssize_t put = ::write(out, answer.data() + at, answer.size() - at);
      if (put < 0 && errno != EINTR) ::_exit(1);
      at += put > 0 ? static_cast<std::size_t>(put) : 0;
    }
  }
  ::_exit(0);
}

Rehearsal::Heard Rehearsal::hear(std::string& answer) {
  char length = 0;
  const Heard heard = read_exactly(&length, 1);
  if (heard != Heard::answer) return heard;
  answer.resize(static_cast<unsigned char>(length));
  return read_exactly(answer.data(), answer.size());
}

Rehearsal::Heard Rehearsal::read_exactly(char* out, std::size_t bytes) {
  using clock = std::chrono::steady_clock;
  const auto limit = clock::now() + limits_.step;
  while (bytes > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - clock::now());
    pollfd source{progress_, POLLIN, 0};
    const int ready = ::poll(&source, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Heard::nothing;
    const ssize_t got = ::read(progress_, out, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Heard::end;
    out += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return Heard::answer;
}

void Rehearsal::end(int* status) {
  if (child_ < 0) return;
  ::close(progress_);
  progress_ = -1;
  // A child that has ended already keeps the status with which it did.
  ::kill(child_, SIGKILL);
  int ended = 0;
  while (::waitpid(child_, &ended, 0) < 0 && errno == EINTR) {
  }
  if (status != nullptr) *status = ended;
  child_ = -1;
}

}  // namespace mcr::aggregation
