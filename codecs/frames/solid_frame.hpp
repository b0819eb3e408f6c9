// SPDX-License-Identifier: BSD-3-Clause
// The solid frame: several variables in one unit of compression. A variable may be coded from
// another one in the frame, but never from data of another frame. The bytes of a variable are a
// *section*; sections follow one another. A section is coded in one of three ways: alone by a
// pipeline, in a stream joined with others, or word by word from formulas over earlier sections and
// references to earlier bricks. See spec.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::codecs {

/// Limits of a solid frame. A reader allocates no more than these, whatever numbers a directory
/// has.
inline constexpr std::size_t max_sections = 1U << 16;
inline constexpr std::uint64_t max_solid_bricks = std::uint64_t{1} << 18;
inline constexpr std::uint64_t max_directory_bytes = std::uint64_t{1} << 24;

/// One variable's bytes in a solid frame.
struct Section {
  std::string name;  ///< used for SectionReport only, not stored
  Layout layout;
};

/// How a section was coded, for users.
struct SectionReport {
  std::string name;
  std::string coding;  ///< "words: p = ((0.666667 * (1 / v)) * e), 2 references a brick"
  std::uint64_t raw_bytes = 0;
  std::uint64_t stored_bytes = 0;
  bool is_related = false;           ///< formulas or references were used
  /// By weigh_sections() only, and only of related sections: about how many bytes a plain frame of
  /// the section would have. Estimated if that is far more than `stored_bytes`.
  std::uint64_t plain_bytes = 0;
  std::vector<std::uint32_t> needs;  ///< sections that must be decoded before it
};

/// True if `frame` begins like a solid frame.
bool is_solid_frame(ByteSpan frame);

/// The contents of a solid frame's header.
struct SolidInfo {
  std::vector<Layout> sections;
  std::uint64_t raw_bytes = 0;
  std::uint64_t frame_bytes = 0;
};
Result<SolidInfo> read_solid_info(ByteSpan frame);

/// Returns how the frame's sections are coded. `names` are the sections' names, as far as they are
/// known.
Result<std::vector<SectionReport>> describe_solid_frame(ByteSpan frame,
                                                        const std::vector<std::string>& names);

/// Decodes a whole solid frame into `raw` (exactly its raw_bytes long). No input is trusted, and
/// all checksums are checked.
Result<void> decode_solid_frame(ByteSpan frame, Scratch& scratch, MutableByteSpan raw);

/// Decodes one section, and the sections that it needs, into `raw` (exactly the section's length).
Result<void> decode_solid_section(ByteSpan frame, std::size_t section, Scratch& scratch,
                                  MutableByteSpan raw);

}  // namespace mcr::codecs
