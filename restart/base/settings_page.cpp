// SPDX-License-Identifier: BSD-3-Clause
// Prints docs/settings.md. For the build, not part of any library.
#include <cstdio>

#include "restart/base/settings.hpp"

int main() {
  const std::string page = mcr::restart::settings_page();
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}
