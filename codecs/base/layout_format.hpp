// SPDX-License-Identifier: BSD-3-Clause
// Converts layouts between bytes and structures, for all kinds of frames. docs/format.md, "Frame".
#pragma once

#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// Limits of a frame. A reader allocates no more than these, whatever numbers a header has.
inline constexpr std::uint64_t max_frame_raw_bytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t max_frame_bricks = std::uint64_t{1} << 16;
inline constexpr std::uint32_t max_element_bytes = 1U << 20;

void write_type(const ElementType& type, Writer& out);
Result<ElementType> read_type(Reader& in);

/// Bricks are stored as runs of equal shapes.
void write_bricks(const std::vector<Shape>& bricks, Writer& out);
Result<std::vector<Shape>> read_bricks(Reader& in);

}  // namespace mcr::codecs
