// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether other ranks have files beside this part. Looks up names, and does not list the
// program's directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "aggregation/commit/stub_handles.hpp"
#include "restart/format/journal.hpp"

namespace mcr::aggregation {

/// By path, the ranks of files that this leader put back or found lone, or whose writers died.
using NativeWriters = std::map<std::string, std::uint32_t>;

struct Siblings {
  /// Index of the first of the part's masked names for which there is evidence.
  std::optional<std::size_t> name;
  /// False if the only evidence is native files that any rank may have written: the highest rank
  /// has no such file, or the files are older than the part.
  bool is_certain = false;
};

/// Returns the first of these that exists: the name of a container of the part's own set; the name
/// under which other ranks have files beside the part, or beside its new path, which `stubs` knows;
/// a name under which the launch has containers. Tries ranks at growing distances in both
/// directions. A file counts only for the rank that wrote it, if that rank is known.
Siblings find_siblings(const restart::PartBegin& begin, const StubHandles& stubs,
                       const NativeWriters& natives = {});

}  // namespace mcr::aggregation
