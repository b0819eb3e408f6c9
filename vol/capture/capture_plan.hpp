// SPDX-License-Identifier: BSD-3-Clause
// Whether and how a file that is about to be created is captured: settings, name, place and stage
// together. Everything that speaks against it makes the file native; nothing here makes a create
// fail but settings that cannot be understood.
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
  /// How many bytes the stage may still take; a part that grows beyond becomes native.
  std::uint64_t room = UINT64_MAX;
};

/// Whether the file that lies there has no other name of the program's. Our own link to a stub (gc=on), or
/// to a native file that is kept aside, is none.
bool has_one_name(const ResolvedPath& place, std::string_view container_dir);

/// `exclusive`: the program wants no file to be there. Cause::usage: a setting is wrong.
Result<std::optional<CapturePlan>> plan_capture(const std::string& name, bool exclusive,
                                                const std::string& connector_text);

}  // namespace mcr::vol
