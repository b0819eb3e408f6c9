// SPDX-License-Identifier: BSD-3-Clause
// Do other ranks have files beside this part? Looked up by name; no scan of the program's directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "aggregation/commit/stub_handles.hpp"
#include "restart/format/journal.hpp"

namespace mcr::aggregation {

/// By path, the ranks of files that this leader has put back, or found lone, or whose writers died.
using NativeWriters = std::map<std::string, std::uint32_t>;

struct Siblings {
  /// Number of the first of the part's masked names that something speaks for.
  std::optional<std::size_t> name;
  /// False: only native files do, and the highest rank has none, or they are older than the part. Any
  /// rank may have written them.
  bool is_certain = false;
};

/// The name of a container of the part's own set, where there is one; else the name under which files
/// of other ranks exist, beside the part or, where the program has renamed it, as `stubs` knows,
/// beside its new name; else one under which the launch has containers. Of the ranks, the next ones
/// in both directions are tried. A file counts only for the rank that wrote it, where that is known.
Siblings find_siblings(const restart::PartBegin& begin, const StubHandles& stubs,
                       const NativeWriters& natives = {});

}  // namespace mcr::aggregation
