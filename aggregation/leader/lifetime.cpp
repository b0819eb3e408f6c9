// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/lifetime.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "aggregation/leader/signals.hpp"
#include "restart/base/close_descriptors.hpp"
#include "restart/base/exec_list.hpp"
#include "restart/base/file.hpp"
#include "restart/base/huge_pages.hpp"

extern char** environ;

namespace mcr::aggregation {

using restart::system_error;

namespace {

constexpr const char* self = "/proc/self/exe";

/// Variables that would change what this program does. MPI's are harmless; a launcher's own are
/// kept, for users who inspect the process.
constexpr std::array unwanted{"LD_PRELOAD",           "LD_AUDIT",         "HDF5_VOL_CONNECTOR",
                              "HDF5_DRIVER",          "HDF5_PLUGIN_PATH", "HDF5_PLUGIN_PRELOAD",
                              "HDF5_USE_FILE_LOCKING"};

/// Of these variables, those whose libraries stay loaded in this process after the variable is
/// removed.
constexpr std::array loaded_by{"LD_PRELOAD", "LD_AUDIT"};

std::vector<std::string> clean_environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool wanted = true;
    for (const char* name : unwanted) {
      const std::size_t length = std::strlen(name);
      wanted &= std::strncmp(*entry, name, length) != 0 || (*entry)[length] != '=';
    }
    if (wanted) kept.emplace_back(*entry);
  }
  restart::ask_for_huge_pages(kept);
  return kept;
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void ignore_signals() {
  for (const SignalRow& row : signal_table)
    if (row.use != SignalUse::ends) ::signal(row.number, SIG_IGN);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) ::signal(number, SIG_IGN);
}

void close_everything() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (null >= 0) ::dup2(null, descriptor);
  }
  restart::close_all_but_standard();
}

}  // namespace

Result<void> detach(const std::vector<std::string>& words) {
  // 1. Fork twice, so that the process is neither a child of the starter nor a session leader.
  const pid_t first = ::fork();
  if (first < 0) return system_error("cannot", "fork");
  if (first > 0) ::_exit(0);
  ::setsid();
  const pid_t second = ::fork();
  if (second < 0) ::_exit(1);
  if (second > 0) ::_exit(0);
  // 2. Close the starter's files, and reset its signal mask and handlers.
  close_everything();
  reset_signals();
  ignore_signals();
  (void)!::chdir("/");
  // 3. Start the program again if LD_PRELOAD has loaded libraries into this process.
  bool is_clean = true;
  for (const char* name : loaded_by) is_clean &= ::getenv(name) == nullptr;
  if (is_clean) return {};
  std::vector<std::string> kept = clean_environment();
  std::vector<std::string> all{"mcr"};
  all.insert(all.end(), words.begin(), words.end());
  ::execve(self, restart::exec_list(all).data(), restart::exec_list(kept).data());
  return system_error("cannot start", self);
}

void lift_limits() {
  for (const auto resource : {RLIMIT_FSIZE, RLIMIT_NOFILE}) {
    struct rlimit limit {};
    if (::getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(resource, &limit);
  }
}

Result<void> step_back(const std::string& cpus) {
  lift_limits();
  const sched_param none{};
  (void)::sched_setscheduler(0, SCHED_OTHER, &none);  // ranks may run at real-time priority
  ::setpriority(PRIO_PROCESS, 0, 19);
#ifdef SYS_ioprio_set
  constexpr int process = 1;
  constexpr int idle_class = 3 << 13;
  (void)::syscall(SYS_ioprio_set, process, 0, idle_class);
#endif
  if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    (void)!::write(file, "1000", 4);
    ::close(file);
  }
  // Removes the binding to one core that a rank may have passed on.
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpus.empty() || cpus == "auto") {
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &set);
  } else {
    for (const unsigned cpu : MCR_TRY(parse_cpus(cpus))) CPU_SET(cpu, &set);
  }
  (void)::sched_setaffinity(0, sizeof set, &set);
  return {};
}

bool weigh_session(int niceness) {
  const int file = ::open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (file < 0) return true;  // the kernel has no autogroups
  const std::string text = std::to_string(niceness);
  const bool is_later = ::write(file, text.data(), text.size()) < 0 && errno == EAGAIN;
  ::close(file);
  return !is_later;
}

Result<void> start_again(const std::vector<std::string>& words) {
  std::vector<std::string> all{"mcr"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<std::string> kept = clean_environment();
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, self, nullptr, nullptr, restart::exec_list(all).data(),
                                   restart::exec_list(kept).data());
  if (failed != 0) {
    errno = failed;
    return system_error("cannot start", self);
  }
  // The child detaches at once, so this wait is short.
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {};
}

Result<std::vector<unsigned>> parse_cpus(const std::string& text) {
  const Error wrong{Cause::usage, "leader_cpus=" + text + " is not a list of CPUs such as 0-3,8"};
  std::vector<unsigned> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](unsigned& value) {
    const auto [next, problem] = std::from_chars(at, end, value);
    at = next;
    return problem == std::errc() && value < CPU_SETSIZE;
  };
  while (at < end) {
    unsigned first = 0;
    if (!number(first)) return wrong;
    unsigned last = first;
    if (at < end && *at == '-') {
      ++at;
      if (!number(last) || last < first) return wrong;
    }
    for (unsigned cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at < end && *at++ != ',') return wrong;
  }
  if (cpus.empty()) return wrong;
  return cpus;
}

Signals::Signals() {
  ignore_signals();
  sigset_t set;
  sigemptyset(&set);
  for (const SignalRow& row : signal_table)
    if (row.use == SignalUse::ends) sigaddset(&set, row.number);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

Signals::~Signals() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Signals::take() {
  struct signalfd_siginfo info {};
  bool came = false;
  while (::read(descriptor_, &info, sizeof info) == sizeof info) came = true;
  return came;
}

Watch::Watch(const std::vector<std::string>& directories, For what)
    : what_(what), descriptor_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  // IN_CLOSE_WRITE also reports dead processes: the kernel closes their files.
  constexpr std::uint32_t changes =
      IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE;
  constexpr std::uint32_t names = IN_CREATE | IN_MOVED_TO;
  complete_ = descriptor_ >= 0;
  for (const std::string& directory : directories) {
    complete_ =
        complete_ && ::inotify_add_watch(descriptor_, directory.c_str(),
                                         what == For::new_directories ? names : changes) >= 0;
  }
}

Watch::~Watch() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Watch::take() const {
  alignas(struct inotify_event) std::array<char, 4096> buffer{};
  bool changed = false;
  while (descriptor_ >= 0) {
    const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
    if (got <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      struct inotify_event event {};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      at += sizeof event + event.len;
      changed |= what_ == For::changes || (event.mask & (IN_ISDIR | IN_Q_OVERFLOW)) != 0;
    }
  }
  return changed;
}

}  // namespace mcr::aggregation
