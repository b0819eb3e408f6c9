// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/written_in_turns.hpp"

#include "restart/base/path_names.hpp"
#include "restart/format/mask_words.hpp"
#include "restart/format/masked_name.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

namespace {

using State = restart::LaunchDirectory::State;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns a glob for the file's name, with {part} in place of the rank, and * in place of other
// numbers.
std::string glob_for(std::string_view masked_name) {
  masked_name.remove_prefix(masked_name.rfind('/') + 1);
  std::string glob;
  for (std::size_t i = 0; i < masked_name.size();) {
    if (masked_name[i] == '{') {
      glob += restart::part_word;
      i = std::min(masked_name.find('}', i), masked_name.size() - 1) + 1;
    } else if (is_digit(masked_name[i]) && masked_name.find('{', i) != std::string_view::npos) {
      // Only numbers before the rank are replaced: a number after it most likely belongs to the
      // extension.
      glob += '*';
      while (i < masked_name.size() && is_digit(masked_name[i])) ++i;
    } else {
      glob += masked_name[i++];
    }
  }
  return glob;
}

}  // namespace

bool is_of_other_rank(const restart::Stub& stub, const restart::Launcher& launcher) {
  if (!launcher.launch || stub.launch != *launcher.launch || stub.rank == launcher.rank)
    return false;
  return stub.masked_names.empty() ||
         stub.masked_names.front().find(restart::part_word) == std::string::npos;
}

bool goes_on_natively(const restart::Stub& stub, const std::string& path) {
  Process& process = Process::get();
  const auto settings = settings_at(path);
  if (!settings) return false;
  const restart::Launcher launcher = process.launcher(**settings);
  if (!is_of_other_rank(stub, launcher)) return false;
  const auto stage = process.job_stage(**settings, launcher);
  if (!stage) return true;
  const restart::LaunchDirectory& there = (*stage)->directory;
  if (there.path() == stub.launch_directory && there.is_in(State::published, stub.part))
    return false;
  for (const std::string& name : stub.masked_names) {
    (void)there.mark_native(restart::pattern_of(name)).has_value();
  }
  // Also mark the pattern of the path. Files of one step must be treated alike, even if the number
  // in a file's name is no rank.
  (void)there.mark_native(restart::pattern_of(stub.path)).has_value();
  return true;
}

void tell_how_to_capture(const restart::Stub& stub, const std::string& path) {
  const std::string name = stub.masked_names.empty() ? path : stub.masked_names.front();
  const auto settings = settings_at(path);
  if (!settings) return;
  warn_once_in_job(
      Process::get().launcher(**settings), "files are written by several ranks in turn",
      path + " is written by several ranks in turn, so it is written natively from now on; files=" +
          glob_for(name) + " captures such files");
}

}  // namespace mcr::vol
