// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/launch_report.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/wait_report.hpp"
#include "aggregation/mcr/waiting_parts.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::aggregation {
namespace {

restart::LaunchSummary summary_of(const LaunchStatus& launch) {
  return launch.summary.value_or(restart::LaunchSummary{});
}

std::string name_of(const LaunchStatus& launch) { return restart::name_of(launch.path); }

std::string leader_text(const LaunchStatus& launch) {
  if (!launch.has_leader) return "no";
  return launch.what_stands_still().empty() ? "yes" : "stands still";
}

/// Returns the number of the first system error whose text is in `message`; 0 if there is none.
int error_number_in(const std::string& message) {
  for (const int number : {ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, EIO, ESTALE, ENOENT}) {
    if (message.find(std::generic_category().message(number)) != std::string::npos) return number;
  }
  return 0;
}

/// Returns what is wrong with the directory, and what the user can do about it.
std::string remedy_text(int number, const std::string& directory, std::uint64_t bytes) {
  const std::string need = bytes > 0 ? " (up to " + size_text(bytes) + " needed)" : "";
  switch (number) {
    case ENOSPC:
      return "no space left on the file system of " + directory + need + ": free space there";
    case EDQUOT:
      return "your quota on " + directory + " is used up" + need + ": free space there";
    case EFBIG:
      return "a container for " + directory + " is larger than the limit for a file's size" + need +
             ": raise `ulimit -f`";
    case EROFS:
      return directory + " is on a file system that is read-only";
    case EACCES:
    case EPERM:
      return "no permission to write in " + directory;
    default:
      return directory + " cannot be written: " + std::generic_category().message(number);
  }
}

}  // namespace

std::string failure_text(const std::string& stage, const LaunchStatus& launch) {
  const std::string failure = summary_of(launch).last_failure;
  const int number = error_number_in(failure);
  const std::vector<WaitingPart> parts = published_parts(stage, launch);
  if (number == 0 || parts.empty()) return failure;
  std::uint64_t bytes = 0;
  for (const WaitingPart& part : parts) bytes += part.bytes;
  const std::string directory = restart::parent_of(parts.front().path);
  // The files' directory can be written, so another directory refused; the failure names it.
  const bool is_refused = number == EACCES || number == EPERM;
  if (is_refused && ::access(directory.c_str(), W_OK | X_OK) == 0) return failure;
  return remedy_text(number, directory, bytes);
}

nlohmann::json to_json(const LaunchStatus& launch) {
  nlohmann::json summary = nlohmann::json::object();
  if (launch.summary) {
    for (const auto& [key, field] : restart::summary_numbers)
      summary[std::string(key)] = (*launch.summary).*field;
    for (const auto& [key, field] : restart::summary_texts) {
      const std::string& text = (*launch.summary).*field;
      if (!text.empty()) summary[std::string(key)] = text;
    }
  }
  return {{"launch", launch.path},
          {"leader", launch.has_leader},
          {"processes", launch.processes},
          {"open", launch.open},
          {"published", launch.published},
          {"kept", launch.kept},
          {"stage_bytes", launch.bytes},
          {"summary", summary},
          {"stands_still", launch.what_stands_still()},
          {"unreadable", launch.unreadable}};
}

nlohmann::json to_json(const std::vector<LaunchStatus>& launches) {
  nlohmann::json all = nlohmann::json::array();
  for (const LaunchStatus& launch : launches) all.push_back(to_json(launch));
  return all;
}

void print_launches(const std::string& stage, const std::vector<LaunchStatus>& launches) {
  Table table({"launch", "leader", "processes", "open", "published", "kept", "stage", "sets", "raw",
               "stored"},
              {false, false, true, true, true, true, true, true, true, true});
  for (const LaunchStatus& launch : launches) {
    table.add({name_of(launch), leader_text(launch), std::to_string(launch.processes),
               std::to_string(launch.open), std::to_string(launch.published),
               std::to_string(launch.kept), size_text(launch.bytes),
               std::to_string(summary_of(launch).sets), size_text(summary_of(launch).raw_bytes),
               size_text(summary_of(launch).stored_bytes)});
  }
  table.print();
  for (const LaunchStatus& launch : launches) {
    const std::string still = launch.what_stands_still();
    if (!still.empty()) print_line(stdout, "%s: %s", name_of(launch).c_str(), still.c_str());
    if (const std::string failure = failure_text(stage, launch); !failure.empty())
      print_line(stdout, "%s: last failure: %s", name_of(launch).c_str(), failure.c_str());
    if (!launch.unreadable.empty())
      print_line(stdout, "%s: its files cannot be read: %s", name_of(launch).c_str(),
                 launch.unreadable.c_str());
    if (launch.needs_leader()) {
      print_line(stdout, "%s: no leader drains this launch; `mcr recover` starts one",
                 name_of(launch).c_str());
    }
  }
}

void print_left(std::string_view command, const std::string& stage,
                const std::vector<LaunchStatus>& left) {
  for (const LaunchStatus& launch : left) {
    const std::string failure = failure_text(stage, launch);
    const std::string still = launch.what_stands_still();
    std::string why = !launch.unreadable.empty() ? launch.unreadable
                      : !failure.empty()         ? failure
                      : !still.empty()           ? still
                      : launch.processes > 0
                          ? "processes of the launch still run"
                          : "see " + launch.path + "/" + restart::leader_files::log_name;
    print_line(stderr, "mcr %.*s: %zu published and %zu open parts remain in %s: %s",
               static_cast<int>(command.size()), command.data(), launch.published, launch.open,
               launch.path.c_str(), why.c_str());
  }
}

int exit_code_of_left(const std::vector<LaunchStatus>& left) {
  const bool anybody_tries =
      std::any_of(left.begin(), left.end(), [](const LaunchStatus& it) { return it.has_leader; });
  return anybody_tries ? exit_code::pending : exit_code::failure;
}

Result<Drained> drain_stage(std::string_view command, const std::string& stage,
                            std::uint64_t limit_ms, Launches which) {
  WaitReport report(command, stage, which);
  return wait_until_drained(stage, which, limit_ms, [&](std::uint64_t done, std::uint64_t in_all) {
    report.look(done, in_all);
  });
}

std::string foreign_stage_text(const std::string& stage) {
  struct stat status {};
  if (::lstat(stage.c_str(), &status) != 0 || status.st_uid == ::geteuid()) return {};
  return "the stage " + stage + " belongs to " + restart::user_text(status.st_uid) +
         ". It holds no files of yours, and your programs write their files natively; name a "
         "directory of your own with stage=DIRECTORY";
}

}  // namespace mcr::aggregation
