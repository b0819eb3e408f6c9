// SPDX-License-Identifier: BSD-3-Clause
// Nothing here has a destructor, because HDF5 calls the plugin after static destructors have run.
#include "restart/base/log.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>

#include "codecs/base/checksum.hpp"
#include "restart/base/printable.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {
namespace {

constinit std::atomic<LogLevel> level{LogLevel::summary};
constinit std::atomic<int> descriptor{STDERR_FILENO};

/// Checksums of the topics of earlier warnings. Once the table is full, further topics are not
/// logged at all, so that no warning repeats endlessly.
constexpr std::size_t topic_limit = 128;
constinit std::mutex topics_mutex;
constinit std::array<std::uint64_t, topic_limit> topics{};
constinit std::size_t topic_count = 0;

std::string time_of_day() {
  timespec now{};
  system_calls().clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ ",
                    parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                    parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000);
  return {text, static_cast<std::size_t>(length)};
}

/// While an object of this class lives, a write to a pipe without a reader returns an error instead
/// of ending the program. SIGPIPE is blocked in this thread, and a SIGPIPE that our write caused is
/// discarded.
class QuietPipe {
 public:
  QuietPipe() {
    sigset_t pending;
    sigemptyset(&pending);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~QuietPipe() {
    const int kept = errno;
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = kept;
  }
  QuietPipe(const QuietPipe&) = delete;
  QuietPipe& operator=(const QuietPipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// Writes one message as one line in one write(), so that lines of several ranks do not mix. Names
/// in the message may come from other users' files, so control characters are escaped.
void write_line(std::string_view message) {
  const int to = descriptor.load();
  std::string line;
  if (to != STDERR_FILENO) line = time_of_day();
  if (!message.starts_with("mcr: ")) line += "mcr: ";
  line += printable(message);
  line.push_back('\n');
  const QuietPipe quiet;
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = system_calls().write(to, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // there is no other place to report the message
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void set_log_level(LogLevel wanted) { level = wanted; }
LogLevel log_level() { return level; }
void set_log_descriptor(int wanted) { descriptor = wanted; }

void look_for_stderr() {
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) descriptor = -1;
}

void log_summary(std::string_view message) {
  if (level.load() != LogLevel::quiet) write_line(message);
}

void log_warning(std::string_view message) {
  if (level.load() != LogLevel::quiet) write_line(message);
}

bool is_first_warning(std::string_view topic) {
  const std::uint64_t name = checksum(as_bytes(topic));
  const std::lock_guard guard(topics_mutex);
  const auto end = topics.begin() + static_cast<std::ptrdiff_t>(topic_count);
  if (std::find(topics.begin(), end, name) != end || topic_count == topic_limit) return false;
  topics[topic_count++] = name;
  return true;
}

void log_warning_once(std::string_view topic, std::string_view message) {
  if (is_first_warning(topic)) log_warning(message);
}

}  // namespace mcr::restart
