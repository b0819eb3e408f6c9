// SPDX-License-Identifier: BSD-3-Clause
// Functions on the text of a path; no file is looked up.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace mcr::restart {

/// Returns the directory of `path`: "." for a name without '/', "/" for a name in the root.
inline std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

inline std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Writes a path in one way, without looking anything up: "./mcr/" and "mcr" are the same, and so are "run/../mcr" and "mcr".
inline std::string without_dots(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  while (text.ends_with('/')) text.pop_back();
  return text;
}

/// Returns the last `components` of a path; the whole path if it has fewer.
inline std::string path_tail(const std::string& path, std::size_t components) {
  std::size_t begin = path.size();
  for (; components > 0 && begin != std::string::npos && begin > 0; --components)
    begin = path.rfind('/', begin - 1);
  return begin == std::string::npos ? path : path.substr(begin + (components == 0 ? 1 : 0));
}

/// True if the directory above the last `components` of the path is the file's own, or if the next directory on the way down to the file
/// has a number in its name, which may be the rank.
inline bool is_above_ranks(const std::string& path, std::size_t components) {
  if (components <= 1) return true;
  const std::string tail = path_tail(path, components);
  if (tail.size() >= path.size()) return false;
  const std::string first = tail.substr(0, tail.find('/'));
  return std::any_of(first.begin(), first.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the entries of a list such as PATH, which are separated by ':'. Empty ones are kept.
inline std::vector<std::string> split_path_list(const std::string& list) {
  std::vector<std::string> entries;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    entries.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return entries;
}

/// Returns the components of a path, without empty ones and ".".
inline std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> components;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    std::string component = path.substr(begin, end - begin);
    if (!component.empty() && component != ".") components.push_back(std::move(component));
    begin = end + 1;
  }
  return components;
}

}  // namespace mcr::restart
