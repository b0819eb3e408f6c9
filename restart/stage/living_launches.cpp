// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/living_launches.hpp"

#include <mutex>
#include <set>

namespace mcr::restart {
namespace {

struct Living {
  std::mutex mutex;
  std::set<std::string> launches;
};
Living& living() {
  // Never destroyed: HDF5 closes files after static destructors have run.
  static Living& living = *new Living;
  return living;
}

}  // namespace

bool is_known_to_live(const std::string& launch_directory) {
  const std::lock_guard lock(living().mutex);
  return living().launches.contains(launch_directory);
}

void note_living(const std::string& launch_directory) {
  const std::lock_guard lock(living().mutex);
  living().launches.insert(launch_directory);
}

}  // namespace mcr::restart
