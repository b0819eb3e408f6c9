// SPDX-License-Identifier: BSD-3-Clause
// The sets that gc=on and `mcr gc` have removed, one line for each set in `set-removed.log` beside
// the containers. A user who opens a copy of a stub is told from this log what became of the data.
#pragma once

#include <optional>
#include <string>

#include "codecs/base/result.hpp"
#include "restart/sets/container_places.hpp"

namespace mcr::restart {

/// Adds a line about a removed set. `prefix`: ContainerName::distinct_prefix of its containers. When
/// the file exceeds 256 KiB, its older half is removed. Returns false if the line could not be written.
bool note_removed_set(const File& containers, const std::string& prefix, const std::string& why);

/// Returns the line about that set; nothing if there is no line, or the log is not believed.
std::optional<std::string> removed_set(const OpenContainers& containers, const std::string& prefix);

}  // namespace mcr::restart
