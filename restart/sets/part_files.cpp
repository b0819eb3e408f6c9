// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/part_files.hpp"

#include "restart/format/masked_name.hpp"
#include "restart/sets/masked_component.hpp"

namespace mcr::restart {

Result<PartFiles> part_files(std::string_view masked_name) {
  PartFiles paths;
  const auto component = masked_component(masked_name);
  if (!component) return paths;
  for (const std::string& name : MCR_TRY(names_that_fit(*component))) {
    if (const auto number = masked_number(name, component->text))
      paths[*number].push_back(component->before + name + std::string(component->after));
  }
  return paths;
}

}  // namespace mcr::restart
