// SPDX-License-Identifier: BSD-3-Clause
// Families of files (restart/format/masked_name.hpp) whose numbers are not ranks. The evidence:
// this rank has created a file of the family whose path does not contain the rank. (With one file
// for two ranks, for example, every second rank does so.) If another path of the family contains
// the rank's number, this is by accident (docs/design/capture.md).
#pragma once

#include <string>

#include "restart/settings/launcher.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::vol {

bool is_unranked(const std::string& family);

/// Remembers the family, and marks it in the stage for the leader and the other ranks of the node.
/// If no rank has begun a part yet, a later call makes the mark.
void note_unranked(const std::string& family, const restart::Settings& settings,
                   const restart::Launcher& launcher);

}  // namespace mcr::vol
