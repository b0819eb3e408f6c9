// SPDX-License-Identifier: BSD-3-Clause
// Decides whether and how a file that is about to be created is captured, from settings, name, place
// and stage. Any objection makes the file native. Only settings that cannot be understood make a create
// fail.
#pragma once

#include <optional>
#include <string_view>

#include "vol/capture/resolved_path.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

class CapturePlan {
 public:
  Process::SettingsPointer settings;
  std::string path_as_passed;
  ResolvedPath place;
  std::vector<std::string> masked_names;
  JobStage* stage = nullptr;
  /// How many bytes the stage can still take; a part that grows beyond this becomes native.
  std::uint64_t free_bytes = UINT64_MAX;
};

/// True if the program has no other name for the existing file. Our own link to a stub (gc=on), or to a
/// native file that is kept aside, does not count.
bool has_one_name(const ResolvedPath& place, std::string_view container_dir);

/// `exclusive`: the program requires that no file exists. Cause::usage: a setting is wrong.
Result<std::optional<CapturePlan>> plan_capture(const std::string& name, bool exclusive,
                                                const std::string& connector_text);

}  // namespace mcr::vol
