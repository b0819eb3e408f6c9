// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/silent_stages.hpp"

#include <mutex>
#include <set>
#include <utility>

namespace mcr::restart {
namespace {

struct Silent {
  std::mutex mutex;
  std::set<std::pair<std::string, std::string>> stages;
};
Silent& silent() {
  // Never destroyed: HDF5 closes files after static destructors have run.
  static Silent& silent = *new Silent;
  return silent;
}

}  // namespace

bool is_silent_stage(const std::string& node, const std::string& launch_directory) {
  const std::lock_guard lock(silent().mutex);
  return silent().stages.contains({node, launch_directory});
}

void note_silent_stage(const std::string& node, const std::string& launch_directory) {
  const std::lock_guard lock(silent().mutex);
  silent().stages.emplace(node, launch_directory);
}

}  // namespace mcr::restart
