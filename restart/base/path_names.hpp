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

/// The last `components` of a path; all of it where it has no more.
inline std::string path_tail(const std::string& path, std::size_t components) {
  std::size_t begin = path.size();
  for (; components > 0 && begin != std::string::npos && begin > 0; --components)
    begin = path.rfind('/', begin - 1);
  return begin == std::string::npos ? path : path.substr(begin + (components == 0 ? 1 : 0));
}

}  // namespace mcr::restart
