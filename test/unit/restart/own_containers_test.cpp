// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/own_containers.hpp"

#include <sys/stat.h>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

TEST_CASE("a new directory of containers serves its owner, whatever the umask takes",
          "[own_containers]") {
  const ScratchDirectory place;
  for (const mode_t mask : {0577U, 0777U, 0277U, 0022U}) {
    const std::string path = place.path() + "/mcr-" + std::to_string(mask);
    const mode_t before = ::umask(mask);
    const auto made = make_own_containers(path);
    ::umask(before);
    REQUIRE(made);
    CHECK((made->status()->st_mode & S_IRWXU) == S_IRWXU);
    CHECK((made->status()->st_mode & mask & ~mode_t{S_IRWXU}) == 0);
  }
}
