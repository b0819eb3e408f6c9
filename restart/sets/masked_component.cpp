// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/masked_component.hpp"

#include <fcntl.h>

#include <algorithm>

#include "restart/base/fitting_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::restart {

std::optional<MaskedComponent> masked_component(std::string_view masked_name) {
  for (std::size_t begin = 0; begin <= masked_name.size();) {
    const std::size_t end = std::min(masked_name.find('/', begin), masked_name.size());
    const std::string_view text = masked_name.substr(begin, end - begin);
    if (is_masked(text))
      return MaskedComponent{std::string(masked_name.substr(0, begin)), text,
                             masked_name.substr(end)};
    begin = end + 1;
  }
  return std::nullopt;
}

Result<std::vector<std::string>> names_that_fit(const MaskedComponent& component) {
  auto names =
      list_fitting_names(AT_FDCWD, component.before.empty() ? "." : component.before,
                         [&](const std::string& name) { return fits_mask(name, component.text); });
  if (!names && means_gone(names.error().system_error)) return std::vector<std::string>();
  return names;
}

}  // namespace mcr::restart
