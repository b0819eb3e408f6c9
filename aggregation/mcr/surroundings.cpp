// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/surroundings.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "aggregation/leader/signals.hpp"
#include "restart/base/exec_list.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

using restart::system_error;

namespace {

constexpr std::size_t environment_bytes = 8U << 20;
volatile sig_atomic_t running_child = 0;
volatile sig_atomic_t is_told_to_end = 0;
volatile sig_atomic_t interrupt = 0;  // the signal; 0: none came

void pass_on(int number) {
  for (const SignalRow& row : signal_table)
    if (row.number == number && row.use == SignalUse::ends) is_told_to_end = 1;
  if (running_child > 0) ::kill(static_cast<pid_t>(running_child), number);
}

/// While it exists, signals are passed on to the program. The thread's signals are blocked until `start()`,
/// so that none comes before the program's process is known.
class PassedSignals {
 public:
  PassedSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &mask_);
    struct sigaction forward {};
    forward.sa_handler = pass_on;
    sigemptyset(&forward.sa_mask);
    for (std::size_t i = 0; i < signal_table.size(); ++i) {
      const SignalRow& row = signal_table[i];
      ::sigaction(row.number, nullptr, &before_[i]);
      // The program ignores what this process has ignored since its start: nohup, `CMD &` of a shell. A
      // terminal sends SIGINT to both processes; one that is sent to this process alone is for the program.
      if (row.use != SignalUse::fault && before_[i].sa_handler != SIG_IGN)
        ::sigaction(row.number, &forward, nullptr);
    }
  }
  ~PassedSignals() {
    running_child = 0;
    for (std::size_t i = 0; i < signal_table.size(); ++i)
      ::sigaction(signal_table[i].number, &before_[i], nullptr);
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;

  [[nodiscard]] const sigset_t& mask() const { return mask_; }
  void start(pid_t child) {
    running_child = child;
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  sigset_t mask_{};
  std::array<struct sigaction, signal_table.size()> before_{};
};

/// Returns the text after the connector's name, without the keys under_vol= and under_info=, which
/// are not ours.
std::string settings_text(const std::string& connector) {
  if (!connector.starts_with("mcr")) return {};
  std::string text = connector.substr(3);
  if (!text.empty() && text.front() != ' ') return {};  // "mcrx": another connector
  for (const char* key : {"under_vol=", "under_info="}) {
    const std::size_t begin = text.find(key);
    if (begin == std::string::npos) continue;
    std::size_t end = begin;
    int depth = 0;
    while (end < text.size() && (depth > 0 || text[end] != ';')) {
      depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      ++end;
    }
    text.erase(begin, std::min(end + 1, text.size()) - begin);
  }
  return text;
}

}  // namespace

std::string own_file() {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size() - 1);
  return std::string(buffer.data(), length <= 0 ? 0 : static_cast<std::size_t>(length));
}

std::string beside_command(const char* relative) {
  const std::string self = own_file();
  return self.empty() ? self : self.substr(0, self.rfind('/') + 1) + relative;
}

std::vector<std::string> original_environment() {
  std::vector<std::string> entries;
  const auto content = restart::read_file(AT_FDCWD, "/proc/self/environ", environment_bytes);
  if (!content) return entries;
  std::string_view text = as_text(*content);
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    if (!entry.empty()) entries.emplace_back(entry);
  }
  return entries;
}

std::string original_variable(const std::string& name) {
  for (const std::string& entry : original_environment()) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return {};
}

std::string plugin_directory() {
  const std::string relative = beside_command(MCR_PLUGIN_FROM_COMMAND);
  char* const resolved = ::realpath(relative.c_str(), nullptr);
  std::string found = resolved != nullptr ? resolved : relative;
  ::free(resolved);
  return found;
}

std::string plugin_file() { return plugin_directory() + "/libmcr_vol.so"; }

std::vector<std::string> captured_environment() {
  std::vector<std::string> entries;
  std::string path = plugin_directory();
  std::string connector = "mcr";
  for (std::string& entry : original_environment()) {
    if (entry.starts_with("HDF5_PLUGIN_PATH=")) {
      const std::string rest = entry.substr(sizeof "HDF5_PLUGIN_PATH=" - 1);
      if (!rest.empty() && rest != path) path += ":" + rest;
    } else if (entry.starts_with("HDF5_VOL_CONNECTOR=")) {
      const std::string text = entry.substr(sizeof "HDF5_VOL_CONNECTOR=" - 1);
      if (text == "mcr" || text.starts_with("mcr ")) connector = text;
    } else {
      entries.push_back(std::move(entry));
    }
  }
  entries.push_back("HDF5_PLUGIN_PATH=" + path);
  entries.push_back("HDF5_VOL_CONNECTOR=" + connector);
  return entries;
}

Result<restart::Settings> effective_settings(const std::string& directory,
                                             std::vector<std::string>& warnings) {
  return restart::load_settings(settings_text(original_variable("HDF5_VOL_CONNECTOR")), directory,
                                warnings, beside_command(MCR_SETTINGS_FROM_COMMAND));
}

Result<std::string> stage_path(const std::string& given) {
  if (!given.empty()) {
    if (::access(given.c_str(), F_OK) == 0) return given;
    return Error{
        Cause::system,
        "there is no stage " + given +
            "; the setting stage= says where a job's stage is (run `mcr config` on the job's node)",
        errno};
  }
  std::vector<std::string> warnings;
  return std::string(MCR_TRY(effective_settings({}, warnings)).text("stage"));
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             ::pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (pipe && text.size() < (1U << 20)) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get());
    if (got == 0) break;
    text.append(buffer.data(), got);
  }
  return text;
}

Result<int> run_program(const std::vector<std::string>& words,
                        const std::vector<std::string>& environment, bool quiet) {
  std::vector<std::string> arguments = words;
  std::vector<std::string> variables = environment;
  PassedSignals signals;
  pid_t child = -1;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (quiet) ::posix_spawn_file_actions_adddup2(&actions, 2, 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&attributes, &signals.mask());
  const int failed =
      ::posix_spawnp(&child, arguments.front().c_str(), &actions, &attributes,
                     restart::exec_list(arguments).data(), restart::exec_list(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    errno = failed;
    return system_error("cannot start", arguments.front());
  }
  signals.start(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool was_told_to_end() { return is_told_to_end != 0; }

void note_interrupts() {
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler == SIG_DFL) ::signal(number, [](int came) { interrupt = came; });
  }
}

bool was_interrupted() { return interrupt != 0; }

void end_as_interrupted() {
  ::signal(interrupt, SIG_DFL);
  ::raise(interrupt);
}

void survive_messages() {
  for (const int number : {SIGUSR1, SIGUSR2}) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler == SIG_DFL) ::signal(number, pass_on);  // unlike SIG_IGN, not inherited
  }
}

}  // namespace mcr::aggregation
