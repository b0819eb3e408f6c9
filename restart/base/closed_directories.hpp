// SPDX-License-Identifier: BSD-3-Clause
// What directories between a file of ours and the file that it stands for keep others from.
#pragma once

#include <string>

#include "restart/base/attributes.hpp"

namespace mcr::restart {

/// `access` of the file at `path`, for a file of ours in `base`, where others may come who never come to
/// the first: a program that gives each rank a directory of its own (0700) has closed the files in it.
Access closed_by_directories(Access access, const std::string& path, const std::string& base);

/// Whether some who may write to `base`, and so remove files there, may not write to a directory between
/// `base` and the file at `path`.
bool keeps_writers_out(const std::string& path, const std::string& base);

}  // namespace mcr::restart
