// SPDX-License-Identifier: BSD-3-Clause
// What a path says by itself; nothing is looked up.
#pragma once

#include <string>

namespace mcr::restart {

/// The directory of what lies at `path`: "." for a mere name, "/" for what lies in the root.
inline std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

inline std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace mcr::restart
