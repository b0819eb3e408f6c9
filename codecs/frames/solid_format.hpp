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
  /// Bits 0 to 2: the axes along which neighbours are used; no bits: the word before.
  std::uint8_t axes = 0;
  std::uint32_t formula = 0;  ///< number among the section's formulas
  /// Number among the section's needs; the count of needs means the section itself.
  std::uint32_t need = 0;
  /// Number in that section; if it is this brick's own number, the brick itself.
  std::uint32_t brick = 0;
  AxisOrder order = same_order;

  bool operator==(const PredictionSource&) const = default;
};

struct SectionFormula {
  Formula formula;
  std::vector<std::uint32_t> inputs;  ///< numbers among the section's needs
};

struct SectionEntry {
  Layout layout;
  SectionKind kind = SectionKind::plain;
  Pipeline pipeline;                       // plain
  std::vector<std::uint64_t> coded_bytes;  // plain
  // For words: the sections that this one needs, which are decoded before it.
  std::vector<std::uint32_t> needs;
  std::vector<SectionFormula> formulas;               // words
  std::vector<std::vector<PredictionSource>> bricks;  // words: a list for each brick
  std::uint64_t payload_bytes = 0;                    // 0 for a joined section
  std::uint64_t raw_checksum = 0;                     // of the section's bytes
};

struct Directory {
  std::vector<SectionEntry> sections;  ///< in order of raw bytes
  /// Order of decoding: the needs of a section come before the section.
  std::vector<std::uint32_t> order;
  std::uint64_t joined_bytes = 0;  ///< payload of the joined stream, which is the first payload
};

void write_directory(const Directory& directory, Bytes& out);
Result<Directory> read_directory(ByteSpan bytes);

}  // namespace mcr::codecs::solid
