// SPDX-License-Identifier: BSD-3-Clause
// Families of files (restart/format/masked_name.hpp) whose numbers are not ranks: this rank has made a file of
// it in whose path no number is its own, as every second rank does where fewer files than ranks are
// written. A path of it that bears the rank's number bears it by accident (docs/design/capture.md).
#pragma once

#include <string>

#include "restart/settings/launcher.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::vol {

bool is_unranked(const std::string& family);

/// Remembers the family, and tells the other ranks and the leader of the node through the stage: now
/// or, where no rank has begun a part yet, at a later call.
void note_unranked(const std::string& family, const restart::Settings& settings,
                   const restart::Launcher& launcher);

}  // namespace mcr::vol
