// SPDX-License-Identifier: BSD-3-Clause
// Decides by a file's name whether the file is captured, as the setting files= says
// (docs/design/capture.md). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcr::vol {

struct NameQuestion {
  std::string_view files;           ///< the setting: auto, *, GLOB[;GLOB]
  std::string_view path_as_passed;  ///< as the program gave it
  std::string_view path;            ///< absolute, links resolved
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
};

struct CapturedNames {
  /// The masked names under which the file is captured, most likely first; empty: it is not
  /// captured. If a glob captures the file whichever rank writes it, the last name is the path
  /// itself: a set of this file alone.
  std::vector<std::string> masked_names;
  bool by_auto = false;  ///< `auto` decided, by the numbers in the path
};
CapturedNames captured_names(const NameQuestion& question);

/// Returns `path` with the digits at {rank} and {part} of the glob masked; nothing if the glob does
/// not match. A glob without '/' is compared with the file name. A glob that begins with '/' is
/// compared with the whole path, any other glob with as many components at its end. `*`, `?`,
/// `[...]` stay within a component.
std::optional<std::string> match_glob(std::string_view glob, std::string_view path,
                                      std::uint32_t rank);

}  // namespace mcr::vol
