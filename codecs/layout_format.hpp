// SPDX-License-Identifier: BSD-3-Clause
// Layouts between bytes and structures, as frames of all kinds hold them. docs/format.md, "Frame".
#pragma once

#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/layout.hpp"

namespace mcr::codecs {

void write_type(const ElementType& type, Writer& out);
Result<ElementType> read_type(Reader& in);

/// Runs of equal shapes.
void write_bricks(const std::vector<Shape>& bricks, Writer& out);
Result<std::vector<Shape>> read_bricks(Reader& in);

}  // namespace mcr::codecs
