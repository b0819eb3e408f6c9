// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/ranks_to_probe.hpp"

#include "restart/format/masked_name.hpp"
#include "restart/sets/masked_component.hpp"

namespace mcr::restart::detail {

bool list_ranks(std::string_view masked_name, std::uint32_t rank_count,
                std::set<std::uint32_t>& ranks) {
  const auto component = masked_component(masked_name);
  if (!component) return true;  // no other rank has a name
  const auto names = names_that_fit(*component);
  if (!names) return false;
  for (const std::string& name : *names) {
    if (const auto rank = masked_number(name, component->text)) {
      if (*rank < rank_count) ranks.insert(static_cast<std::uint32_t>(*rank));
    } else if (!component->after.empty()) {  // a directory of several ranks, {ranks}
      const std::string below = component->before + name + std::string(component->after);
      if (!list_ranks(below, rank_count, ranks)) return false;
    }
  }
  return true;
}

}  // namespace mcr::restart::detail
