// SPDX-License-Identifier: BSD-3-Clause
// Prints the result of find_launcher(). launcher_test starts this program with real launchers.
#include <cstdio>
#include <cstdlib>

#include "restart/settings/launcher.hpp"

int main() {
  const auto found = mcr::restart::find_launcher(
      [](const char* name) -> const char* { return std::getenv(name); }, {});
  std::printf("%u %u %u %s\n", found.rank, found.rank_count, found.local_rank_count,
              found.launch.value_or("none").c_str());
  return 0;
}
