// SPDX-License-Identifier: BSD-3-Clause
// Prints what find_launcher() finds; started by real launchers in launcher_test.
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
