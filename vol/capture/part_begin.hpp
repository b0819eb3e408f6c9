// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <optional>

#include "restart/format/journal.hpp"
#include "restart/format/stub.hpp"
#include "vol/capture/capture_plan.hpp"
#include "vol/process/writing_counts.hpp"

namespace mcr::vol {

/// The writing of a file that the program creates under the name `passed`, which leads to `place`.
Writing writing_of(const std::string& passed, const ResolvedPath& place);

/// Returns what the journal says of a file that is created by this plan, except the part's id. `status` is that
/// of the file at the path: the older file or, if none was there, the empty new one. `old` is the stub in the
/// older file. Counts the writing: the next call for this name has the next sequence.
restart::PartBegin begin_part(const CapturePlan& plan, const struct stat& status,
                              const std::optional<restart::Stub>& old);

}  // namespace mcr::vol
