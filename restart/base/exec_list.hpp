// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace mcr::restart {

/// Returns the words as exec() and posix_spawn() take them: with a null pointer at the end. They change nothing,
/// although their type says so. The list refers to `words`.
inline std::vector<char*> exec_list(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace mcr::restart
