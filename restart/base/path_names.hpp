// SPDX-License-Identifier: BSD-3-Clause
// Functions on the text of a path; no file is looked up.
#pragma once

#include <string>

namespace mcr::restart {

/// Returns the directory of `path`: "." for a name without '/', "/" for a name in the root.
inline std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

inline std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Returns the last `components` of a path; the whole path if it has fewer.
inline std::string path_tail(const std::string& path, std::size_t components) {
  std::size_t begin = path.size();
  for (; components > 0 && begin != std::string::npos && begin > 0; --components)
    begin = path.rfind('/', begin - 1);
  return begin == std::string::npos ? path : path.substr(begin + (components == 0 ? 1 : 0));
}

}  // namespace mcr::restart
