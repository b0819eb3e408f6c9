// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/rehearsal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include "codecs/base/bytes.hpp"

namespace mcr::aggregation {
namespace {

constexpr int look_every_ms = 50;
constexpr std::size_t longest_answer = 255;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool limits_addresses = false;  // a sanitizer's shadow takes terabytes of addresses
#else
constexpr bool limits_addresses = true;
#endif

/// Comes before the text of an answer.
struct Head {
  std::size_t item = 0;
  std::size_t text_bytes = 0;
};

/// Returns how many bytes this process has mapped now. The child's limit is this number plus
/// memory_bytes_.
std::size_t mapped_bytes() {
  std::size_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::string told(int status, bool late) {
  if (late) return "takes too long to read it";
  if (WIFSIGNALED(status))
    return std::string("crashes when it reads it (") + ::strsignal(WTERMSIG(status)) + ")";
  return "ends with an error when it reads it, status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Rehearsal::~Rehearsal() { end(nullptr); }

Result<void> Rehearsal::passes(std::size_t item, std::chrono::milliseconds limit) {
  if (child_ < 0) begin(item);
  if (child_ < 0) return {};
  // If the child has ended, the send fails, and hear() reports the end.
  (void)::send(child_end_, &item, sizeof item, MSG_NOSIGNAL);
  const Bound bound{processor_time() + limit,
                    std::chrono::steady_clock::now() + limit * patience_factor};
  std::string answer;
  const Heard heard = hear(bound, item, answer);
  if (heard != Heard::answer) {
    int status = 0;
    end(&status);
    return Error{Cause::damaged, "HDF5 " + told(status, heard == Heard::nothing)};
  }
  if (!answer.empty()) return Error{Cause::damaged, answer};
  return {};
}

void Rehearsal::begin(std::size_t item) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ == 0) {
    // The child dies with its parent.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::close(ends[0]);
    run(item, ends[1]);
  }
  ::close(ends[1]);
  if (child_ < 0) {
    ::close(ends[0]);
    return;
  }
  child_end_ = ends[0];
}

void Rehearsal::run(std::size_t first, int parent) {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  if (const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) ::dup2(null, 2);
  const struct rlimit no_core {};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (limits_addresses) {
    const rlim_t most = mapped_bytes() + memory_bytes_;
    const struct rlimit memory { most, most };
    ::setrlimit(RLIMIT_AS, &memory);
  }
  std::size_t wanted = first;
  for (std::size_t item = first; item < count_;) {
    if (item > wanted + 1) {  // at most one item ahead
      if (::recv(parent, &wanted, sizeof wanted, MSG_WAITALL) != sizeof wanted) ::_exit(1);
      item = std::max(item, wanted);
      continue;
    }
    const std::string text = step_(item).substr(0, longest_answer);
    const Head head{item, text.size()};
    const std::string answer = std::string(as_text(object_bytes(head))) + text;
    for (std::size_t at = 0; at < answer.size();) {
      const ssize_t put = ::send(parent, answer.data() + at, answer.size() - at, MSG_NOSIGNAL);
      if (put < 0 && errno != EINTR) ::_exit(1);
      at += put > 0 ? static_cast<std::size_t>(put) : 0;
    }
    ++item;
  }
  ::_exit(0);
}

/// Receives the answer for `item`; skips answers for earlier items, which are no longer needed.
Rehearsal::Heard Rehearsal::hear(const Bound& bound, std::size_t item, std::string& answer) {
  for (;;) {
    Head head;
    Heard heard = read_exactly(bound, &head, sizeof head);
    if (heard != Heard::answer) return heard;
    answer.resize(std::min(head.text_bytes, longest_answer));
    heard = read_exactly(bound, answer.data(), answer.size());
    if (heard != Heard::answer || head.item >= item) return heard;
  }
}

Rehearsal::Heard Rehearsal::read_exactly(const Bound& bound, void* out, std::size_t bytes) {
  while (bytes > 0) {
    pollfd source{child_end_, POLLIN, 0};
    const int ready = ::poll(&source, 1, look_every_ms);
    if (ready < 0 && errno != EINTR) return Heard::nothing;
    if (ready <= 0) {
      const bool late = processor_time() >= bound.processor_time ||
                        std::chrono::steady_clock::now() >= bound.time;
      if (late) return Heard::nothing;
      continue;
    }
    const ssize_t got = ::read(child_end_, out, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Heard::end;
    out = static_cast<char*>(out) + got;
    bytes -= static_cast<std::size_t>(got);
  }
  return Heard::answer;
}

/// Returns the processor time that the child has used so far.
std::chrono::nanoseconds Rehearsal::processor_time() const {
  clockid_t clock{};
  timespec taken{};
  if (::clock_getcpuclockid(child_, &clock) != 0 || ::clock_gettime(clock, &taken) != 0) return {};
  return std::chrono::seconds(taken.tv_sec) + std::chrono::nanoseconds(taken.tv_nsec);
}

void Rehearsal::end(int* status) {
  if (child_ < 0) return;
  ::close(child_end_);
  child_end_ = -1;
  // A child that has already ended keeps its own exit status.
  ::kill(child_, SIGKILL);
  int ended = 0;
  while (::waitpid(child_, &ended, 0) < 0 && errno == EINTR) {
  }
  if (status != nullptr) *status = ended;
  child_ = -1;
}

}  // namespace mcr::aggregation
