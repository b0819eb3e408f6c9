// SPDX-License-Identifier: BSD-3-Clause
// Lists the files and directories that fit the first component of a masked name that has a word for digits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::restart {

/// The first component with a word for digits, and the path on both sides of it.
struct MaskedComponent {
  std::string before;  ///< "" or with a slash at its end
  std::string_view text;
  std::string_view after;  ///< "" or with a slash at its beginning
};
/// Nothing if no component of `masked_name` has such a word. The result refers to `masked_name`.
std::optional<MaskedComponent> masked_component(std::string_view masked_name);

/// Returns the names that fit the component, sorted; none if its directory is gone.
/// Error: the directory cannot be listed.
Result<std::vector<std::string>> names_that_fit(const MaskedComponent& component);

}  // namespace mcr::restart
