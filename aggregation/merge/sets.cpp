// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/sets.hpp"

namespace mcr::aggregation {

int choose_name(const std::vector<CandidateName>& names, const std::vector<std::uint32_t>& supports,
                const std::vector<std::uint32_t>& maybe) {
  if (names.size() == 1) return 0;
  // The name with the most certain supporters wins. If there are none, the name that most other
  // parts may have wins. In a tie the first name wins, so that all leaders that see the same parts
  // choose alike.
  for (const auto* votes : {&supports, &maybe}) {
    int best = -1;
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if ((*votes)[i] > most) {
        most = (*votes)[i];
        best = static_cast<int>(i);
      }
    }
    if (best >= 0) return best;
  }
  return -1;
}

std::uint32_t group_of(std::uint32_t rank, std::uint32_t group_size) {
  return group_size == 0 ? 0 : rank / group_size;
}

}  // namespace mcr::aggregation
