// SPDX-License-Identifier: BSD-3-Clause
// Describes how a frame's sections are coded, for users.
#pragma once

#include <string>
#include <vector>

#include "codecs/frames/solid_format.hpp"
#include "codecs/frames/solid_frame.hpp"

namespace mcr::codecs::solid {

std::vector<SectionReport> describe(const Directory& directory,
                                    const std::vector<std::string>& names);

}  // namespace mcr::codecs::solid
