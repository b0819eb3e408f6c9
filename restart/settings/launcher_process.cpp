// SPDX-License-Identifier: BSD-3-Clause
#include "restart/settings/launcher_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "restart/base/file.hpp"

namespace mcr::restart {
namespace {

std::string file_text(const std::string& name, std::size_t limit) {
  const auto content = read_file(AT_FDCWD, name, limit);
  return content ? std::string(as_text(*content)) : std::string();
}

/// What /proc shows about a process.
struct ProcessFacts {
  std::uint64_t parent = 0;
  std::uint64_t start_ticks = 0;
  std::string name;
};
std::optional<ProcessFacts> facts_of(std::uint64_t pid) {
  const std::string stat = file_text("/proc/" + std::to_string(pid) + "/stat", 4096);
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');  // the name may contain any character, ')' too
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  ProcessFacts facts;
  facts.name = stat.substr(open + 1, close - open - 1);
  std::string_view rest = std::string_view(stat).substr(close + 1);
  // Fields after the name: state (3), parent (4), …, start time (22).
  for (int field = 3; field <= 22; ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(word.size());
    if (field != 4 && field != 22) continue;
    std::uint64_t& value = field == 4 ? facts.parent : facts.start_ticks;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
  }
  return facts;
}

/// True for the name of a shell. A shell (a script, or a user at a terminal) may start the same
/// ranks any number of times.
bool is_shell_name(std::string_view name) {
  for (const std::string_view known :
       {"sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh", "fish", "busybox"}) {
    if (name == known) return true;
  }
  return false;
}

/// Removes the first of several texts that end with a zero byte each, and returns it.
std::string_view take_text(std::string_view& texts) {
  const std::string_view text = texts.substr(0, texts.find('\0'));
  texts.remove_prefix(std::min(texts.size(), text.size() + 1));
  return text;
}

}  // namespace

bool is_launcher_name(std::string_view name) {
  for (std::string_view known :
       {"hydra_pmi_proxy", "pmi_proxy", "mpiexec", "mpirun", "orterun", "orted", "prted", "prterun",
        "mpispawn", "srun", "slurmstepd", "palsd", "flux-shell"}) {
    known = known.substr(0, 15);  // the kernel cuts names at 15 characters
    if (name == known || (name.starts_with(known) && name[known.size()] == '.')) return true;
  }
  return false;
}

std::optional<std::uint64_t> launcher_process(const char* rank_variable) {
  std::uint64_t pid = static_cast<std::uint64_t>(::getppid());
  for (int generation = 0; pid > 1 && generation < 64; ++generation) {
    const auto facts = facts_of(pid);
    if (!facts) return std::nullopt;
    if (is_launcher_name(facts->name)) return pid;
    if (rank_variable != nullptr && !variable_of(pid, rank_variable)) {
      return is_shell_name(facts->name) ? std::nullopt : std::optional(pid);
    }
    pid = facts->parent;
  }
  return std::nullopt;
}

std::uint32_t ranks_below_launcher() {
  const auto launcher = launcher_process(nullptr);
  if (!launcher) return 0;
  const std::string pid = std::to_string(*launcher);
  std::uint32_t count = 0;
  for (const char c : file_text("/proc/" + pid + "/task/" + pid + "/children", 1 << 20)) {
    count += c == ' ' ? 1 : 0;  // the kernel writes a blank after each number
  }
  return count;
}

std::optional<std::string> identity_of(std::uint64_t pid) {
  const auto facts = facts_of(pid);
  const std::string boot = file_text("/proc/sys/kernel/random/boot_id", 128);
  if (!facts || boot.size() < 36) return std::nullopt;
  return boot.substr(0, 36) + "/" + std::to_string(pid) + "/" + std::to_string(facts->start_ticks);
}

std::string name_of(std::uint64_t pid) {
  const auto facts = facts_of(pid);
  return facts ? facts->name : std::string();
}

std::optional<std::uint64_t> parent_of(std::uint64_t pid) {
  const auto facts = facts_of(pid);
  return facts ? std::optional(facts->parent) : std::nullopt;
}

std::optional<std::string> argument_of(std::uint64_t pid, std::string_view option) {
  const std::string words = file_text("/proc/" + std::to_string(pid) + "/cmdline", 1 << 16);
  std::string_view rest = words;
  while (!rest.empty()) {
    if (take_text(rest) == option && !rest.empty()) return std::string(take_text(rest));
  }
  return std::nullopt;
}

std::optional<std::string> variable_of(std::uint64_t pid, std::string_view name) {
  const std::string environment =
      file_text("/proc/" + std::to_string(pid) + "/environ", std::size_t{4} << 20);
  std::string_view rest = environment;
  while (!rest.empty()) {
    const std::string_view entry = take_text(rest);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return std::string(entry.substr(name.size() + 1));
  }
  return std::nullopt;
}

}  // namespace mcr::restart
