// SPDX-License-Identifier: BSD-3-Clause
// How a frame's sections are coded, for people.
#pragma once

#include <string>
#include <vector>

#include "codecs/frames/solid_format.hpp"
#include "codecs/frames/solid_frame.hpp"

namespace mcr::codecs::solid {

std::vector<SectionReport> describe(const Directory& directory,
                                    const std::vector<std::string>& names);

}  // namespace mcr::codecs::solid
