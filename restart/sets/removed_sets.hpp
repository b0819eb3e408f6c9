// SPDX-License-Identifier: BSD-3-Clause
// What gc=on and `mcr gc` have removed: one line a set in `set-removed.log` beside the containers, so
// that who holds a copy of a stub is told what became of its data.
#pragma once

#include <optional>
#include <string>

#include "codecs/base/result.hpp"
#include "restart/sets/container_places.hpp"

namespace mcr::restart {

/// Adds a line about a set that was removed. `prefix`: what the names of its containers have in common.
/// When the file has grown, its oldest lines are removed.
void note_removed_set(const File& containers, const std::string& prefix, const std::string& why);

/// The line about that set; nothing where there is none, or none that is believed.
std::optional<std::string> removed_set(const OpenContainers& containers, const std::string& prefix);

}  // namespace mcr::restart
