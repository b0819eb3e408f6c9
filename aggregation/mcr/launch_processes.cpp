// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/launch_processes.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include "restart/base/counted.hpp"
#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::aggregation {
namespace {

using restart::FileIdentity;
using Holders = std::map<FileIdentity, pid_t>;

/// Returns the holders of exclusive locks of the kind that stages use, by file. A line of /proc/locks looks so:
/// "1: FLOCK  ADVISORY  WRITE 4711 00:1a:1234 0 EOF".
Holders lock_holders() {
  Holders holders;
  constexpr std::size_t most_bytes = 16U << 20;
  const auto content = restart::read_file(AT_FDCWD, "/proc/locks", most_bytes);
  if (!content) return holders;
  std::istringstream lines{std::string(as_text(*content))};
  for (std::string line; std::getline(lines, line);) {
    int process = 0;
    unsigned major_number = 0;
    unsigned minor_number = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%*u: FLOCK %*s WRITE %d %x:%x:%lu", &process, &major_number,
                    &minor_number, &inode) == 4 &&
        process > 0)
      holders[FileIdentity(makedev(major_number, minor_number), inode)] = process;
  }
  return holders;
}

pid_t holder_of(const Holders& holders, int directory, const std::string& name) {
  struct stat status {};
  if (restart::system_calls().fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return 0;
  const auto known = holders.find(FileIdentity(status));
  return known == holders.end() ? 0 : known->second;
}

/// Returns "process 4711 on n1".
std::string process_text(pid_t process) {
  return "process " + std::to_string(process) + " on " + restart::host_name();
}

/// Returns the first few of the ranks' processes; empty if there are none.
std::string process_list(const std::vector<pid_t>& ranks) {
  constexpr std::size_t most_named = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_named); ++i)
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
  return ranks.size() > most_named ? text + ", …" : text;
}

}  // namespace

LaunchProcesses processes_of(const std::string& stage, const LaunchStatus& launch) {
  LaunchProcesses found;
  const auto directory = restart::LaunchDirectory::open_in(stage, launch.path);
  const auto presences = directory ? directory->presences() : directory.error();
  if (!presences) return found;
  const Holders holders = lock_holders();
  if (launch.has_leader)
    found.leader = holder_of(holders, directory->descriptor(), restart::stage_files::lock_name);
  for (const auto& presence : *presences) {
    const std::string name =
        std::string(restart::stage_files::ranks_directory) + "/" + presence.name;
    const pid_t process =
        presence.alive ? holder_of(holders, directory->descriptor(), name) : pid_t{0};
    if (process != 0) found.ranks.push_back(process);
  }
  return found;
}

std::string waiting_text(const std::string& stage, const LaunchStatus& launch) {
  const LaunchProcesses processes = processes_of(stage, launch);
  const std::size_t parts = launch.published + (launch.processes == 0 ? launch.open : 0);
  const std::string leader = !launch.has_leader ? "a new leader"
                             : processes.leader == 0
                                 ? "their leader on " + restart::host_name()
                                 : "their leader (" + process_text(processes.leader) + ")";
  std::string text = restart::counted(parts, "part") + " of " + restart::name_of(launch.path) +
                     (parts == 1 ? " waits for " : " wait for ") + leader;
  const restart::LaunchSummary seen = launch.summary.value_or(restart::LaunchSummary{});
  if (launch.has_leader && !seen.doing.empty()) text += ", which is " + seen.doing;
  if (const std::string still = launch.what_stands_still(); !still.empty()) text += "; " + still;
  if (const std::string ranks = process_list(processes.ranks); !ranks.empty())
    text += "; processes of the launch still run: " + ranks;
  return text;
}

}  // namespace mcr::aggregation
