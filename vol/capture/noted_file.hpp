// SPDX-License-Identifier: BSD-3-Clause
// A file of several ranks' set that is native from its create, because the stage is full. A note about it
// (restart/sets/native_members) says to which set it belongs. Otherwise a restart would take it for a file of no
// set, and the ranks could open files of different steps.
#pragma once

#include <optional>
#include <string>

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"
#include "vol/capture/capture_plan.hpp"

namespace mcr::vol {

struct NotedFile {
  std::string containers;  ///< the directory of containers, where the note is
  restart::PartId part;
};

/// Makes the unfinished note about the file, which was just created at the plan's path. Returns nothing if no
/// note could be made.
std::optional<NotedFile> note_new_file(const CapturePlan& plan, const restart::File& file);

}  // namespace mcr::vol
