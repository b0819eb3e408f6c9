// SPDX-License-Identifier: BSD-3-Clause
// Converts a solid frame's directory between bytes and structures. spec.md.
#pragma once

#include <cstdint>
#include <vector>

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/formulas/formula.hpp"
#include "codecs/references/axis_order.hpp"
#include "codecs/word_candidates/word_candidates.hpp"

namespace mcr::codecs::solid {

enum class SectionKind : std::uint8_t { plain = 0, joined = 1, words = 2 };

/// The source of one prediction of a brick.
struct PredictionSource {
  enum class Kind : std::uint8_t { neighbours = 0, formula = 1, reference = 2 };
  Kind kind = Kind::neighbours;
  std::uint8_t axes = 0;      ///< neighbours along which axes, bits 0 to 2; none: the word before
  std::uint32_t formula = 0;  ///< of the section's formulas
  std::uint32_t need = 0;     ///< of the section's needs; their number means the section itself
  std::uint32_t brick = 0;    ///< of that section; its own number there means the brick itself
  AxisOrder order = same_order;

  bool operator==(const PredictionSource&) const = default;
};

struct SectionFormula {
  Formula formula;
  std::vector<std::uint32_t> inputs;  ///< of the section's needs
};

struct SectionEntry {
  Layout layout;
  SectionKind kind = SectionKind::plain;
  Pipeline pipeline;                       // plain
  std::vector<std::uint64_t> coded_bytes;  // plain
  std::vector<std::uint32_t> needs;        // words: sections that are decoded before this one
  std::vector<SectionFormula> formulas;    // words
  std::vector<std::vector<PredictionSource>> bricks;  // words: one list a brick
  std::uint64_t payload_bytes = 0;                    // 0 where joined
  std::uint64_t raw_checksum = 0;                     // of the section's bytes
};

struct Directory {
  std::vector<SectionEntry> sections;  ///< in order of raw bytes
  std::vector<std::uint32_t> order;  ///< in which they are decoded; each one's needs come before it
  std::uint64_t joined_bytes = 0;    ///< payload of the joined stream, which comes first
};

void write_directory(const Directory& directory, Bytes& out);
Result<Directory> read_directory(ByteSpan bytes);

}  // namespace mcr::codecs::solid
