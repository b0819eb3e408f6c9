// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// Removes the file or directory `name` in the open directory, with all that lies in it. Follows no link, and goes by open
/// directories alone. A name that is not there is no error.
Result<void> remove_tree(int directory, const std::string& name);

}  // namespace mcr::restart
