// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/renamed_stubs.hpp"

#include <algorithm>

#include "restart/base/path_names.hpp"

namespace mcr::restart {

bool another_was_renamed(const Stub& opened, const NamesHere& here, const PresentNames& present,
                         const std::string& launch) {
  return std::any_of(present.stubs.begin(), present.stubs.end(), [&](const auto& entry) {
    const auto& [number, stub] = entry;
    if (stub.launch == launch || present.linked.contains(number) ||
        present.at.at(number).may_be_planted || present.at.at(number).is_weaker)
      return false;
    return path_tail(stub.path, here.named_components) !=
               path_tail(present.paths.at(number), here.named_components) ||
           before_tail(stub.path, here.components) != before_tail(opened.path, here.components);
  });
}

}  // namespace mcr::restart
