// SPDX-License-Identifier: BSD-3-Clause
// Do other ranks have files beside this part? Looked up by name; no scan of the program's directory.
#pragma once

#include <cstddef>
#include <optional>

#include "aggregation/commit/stub_handles.hpp"
#include "restart/format/journal.hpp"

namespace mcr::aggregation {

/// Number of the first of the part's masked names under which a file of another rank exists; of the
/// ranks, the next ones in both directions are tried. Where the program has renamed the file, as
/// `stubs` knows, also one that lies beside its new name. Else one under which the launch has
/// containers.
std::optional<std::size_t> find_siblings(const restart::PartBegin& begin, const StubHandles& stubs);

}  // namespace mcr::aggregation
