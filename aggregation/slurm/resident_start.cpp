// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/slurm/resident_start.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>
#include <utility>

#include "restart/base/close_descriptors.hpp"
#include "restart/base/exec_list.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t most_value_bytes = 16 * 1024;
constexpr std::size_t most_environment_bytes = 64 * 1024;

/// Variables of the step that the resident gets. HOME and XDG_CONFIG_HOME: for the user's mcr.conf.
/// SLURM_JOB_END_TIME: for deadline=auto.
constexpr std::array<std::string_view, 5> passed_on{
    "HDF5_VOL_CONNECTOR=", "MCR_", "HOME=", "XDG_CONFIG_HOME=", "SLURM_JOB_END_TIME="};

/// Gives up root's rights. False if any is left.
bool become(const JobUser& user) {
  if (::setgroups(user.groups.size(), user.groups.data()) != 0 ||
      ::setresgid(user.group, user.group, user.group) != 0 ||
      ::setresuid(user.user, user.user, user.user) != 0) {
    return false;
  }
  return user.user == 0 || (::setuid(0) != 0 && ::geteuid() == user.user);
}

/// Only returns if the resident cannot be started.
void become_resident(const ResidentStart& start, char* const* words, char* const* environment) {
  ::setsid();
  if (!join(start.groups)) return;
  // Numbers below 3 may be the sources of dup2().
  const int input = ::fcntl(start.input, F_DUPFD, 3);
  const int output = ::fcntl(start.output, F_DUPFD, 3);
  const int null = ::open("/dev/null", O_RDWR);
  if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(null, 2) < 0) return;
  restart::close_all_but_standard();
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::umask(start.mask);
  if (::chdir("/") != 0 || !become(start.user)) return;
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::execve(start.command.c_str(), words, environment);
}

}  // namespace

bool is_ours(const char* connector) {
  const std::string_view text = connector == nullptr ? "" : connector;
  return text == "mcr" || text.starts_with("mcr ");
}

std::optional<std::vector<std::string>> resident_environment(const char* const* step,
                                                             const std::string& job) {
  std::vector<std::string> kept{"PATH=/usr/bin:/bin", "SLURM_JOB_ID=" + job};
  std::size_t bytes = 0;
  for (; step != nullptr && *step != nullptr; ++step) {
    const std::string_view entry = *step;
    bool is_kept = false;
    for (const std::string_view prefix : passed_on) is_kept |= entry.starts_with(prefix);
    if (!is_kept) continue;
    bytes += entry.size();
    if (entry.size() > most_value_bytes || bytes > most_environment_bytes) return std::nullopt;
    kept.emplace_back(entry);
  }
  return kept;
}

mode_t umask_of(const char* const* step) {
  constexpr std::string_view name = "SLURM_UMASK=";
  constexpr unsigned careful = 077;
  for (; step != nullptr && *step != nullptr; ++step) {
    std::string_view entry = *step;
    if (!entry.starts_with(name)) continue;
    entry.remove_prefix(name.size());
    unsigned mask = careful;
    const auto [end, problem] = std::from_chars(entry.data(), entry.data() + entry.size(), mask, 8);
    if (problem == std::errc() && end == entry.data() + entry.size() && mask <= 0777) return mask;
  }
  return careful;
}

void start_resident(const ResidentStart& start) {
  const std::vector<std::string> texts{"mcr", "leaders", "serve", "--until-input-ends"};
  const std::vector<char*> words = restart::exec_list(texts);
  const std::vector<char*> environment = restart::exec_list(start.environment);
  const pid_t between = ::fork();
  if (between == 0) {
    // Fork twice: the task's program must not have a child process that it did not start.
    if (::fork() == 0) become_resident(start, words.data(), environment.data());
    ::_exit(0);
  }
  while (between > 0 && ::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace mcr::aggregation
