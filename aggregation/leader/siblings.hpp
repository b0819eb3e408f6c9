// SPDX-License-Identifier: BSD-3-Clause
// Do other ranks have files beside this part? Looked up by name; no scan of the program's directory.
#pragma once

#include <cstddef>
#include <optional>

#include "restart/format/journal.hpp"

namespace mcr::aggregation {

/// Number of the first of the part's masked names under which a file of another rank exists; of the
/// ranks, the next ones in both directions are tried. Else one under which the launch has containers.
std::optional<std::size_t> find_siblings(const restart::PartBegin& begin);

}  // namespace mcr::aggregation
