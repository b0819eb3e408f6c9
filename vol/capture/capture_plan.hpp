// SPDX-License-Identifier: BSD-3-Clause
// Decides from settings, name, place and stage whether and how a new file is captured. Any doubt
// makes the file native. Only a mistake in the settings makes the create fail.
#pragma once

#include <optional>
#include <string_view>

#include "restart/format/native_counts.hpp"
#include "vol/capture/resolved_path.hpp"
#include "vol/process/process.hpp"
#include "vol/process/writing_counts.hpp"

namespace mcr::vol {

class CapturePlan {
 public:
  Process::SettingsPointer settings;
  std::string path_as_passed;
  ResolvedPath place;
  Writing writing;
  std::vector<std::string> masked_names;
  JobStage* stage = nullptr;
  /// How many bytes the stage can still take; a part that grows beyond this becomes native.
  std::uint64_t free_bytes = UINT64_MAX;
  /// The stage is full. The file is native from its create, but still belongs to a set (noted_file.hpp).
  bool is_native = false;
};

/// True if the existing file has only one name. Our own link to a stub (gc=on), or to a native file
/// that is kept aside, does not count.
bool has_one_name(const ResolvedPath& place, std::string_view container_dir);

struct CaptureDecision {
  std::optional<CapturePlan> plan;  ///< nothing: the file is written natively
  /// Valid if there is no plan, and if the plan is native.
  restart::NativeReason why_native{};
};

/// `exclusive`: the program requires that no file exists. Cause::usage: a setting is wrong.
Result<CaptureDecision> plan_capture(const std::string& name, bool exclusive,
                                     const std::string& connector_text);

}  // namespace mcr::vol
