// SPDX-License-Identifier: BSD-3-Clause
// Families of files (restart/format/masked_name.hpp) whose numbers are not ranks: this rank has made a
// file of the family whose path does not contain its rank. Every second rank does so if there are fewer
// files than ranks. If another path of the family contains the rank's number, that is an accident
// (docs/design/capture.md).
#pragma once

#include <string>

#include "restart/settings/launcher.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::vol {

bool is_unranked(const std::string& family);

/// Remembers the family, and tells the other ranks and the leader of the node through the stage. If no
/// rank has begun a part yet, a later call tells them.
void note_unranked(const std::string& family, const restart::Settings& settings,
                   const restart::Launcher& launcher);

}  // namespace mcr::vol
