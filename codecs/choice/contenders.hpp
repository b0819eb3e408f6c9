// SPDX-License-Identifier: BSD-3-Clause
// Pipelines that stand for a choice: what each costs by an estimate, and by a trial on a piece.
#pragma once

#include <string_view>
#include <vector>

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/choice/estimate.hpp"
#include "codecs/choice/profiles.hpp"

namespace mcr::codecs {

inline constexpr std::size_t largest_piece = 512 << 10;

/// A candidate with what is known of it.
struct Contender {
  Model model;
  double encode_mb_s;
  double bits;                   ///< of an element, estimated or tried
  std::string_view text;         ///< of the pipeline, which is parsed when it is tried or taken
  Pipeline made;                 ///< where no text says it
  bool is_of_multiples = false;  ///< begins with that transform, and `model` is of what it gives

  [[nodiscard]] Pipeline pipeline() const {
    if (text.empty()) return made;
    auto parsed = Pipeline::parse(text);
    return parsed ? *std::move(parsed) : Pipeline{};  // a test sees to it that all texts are right
  }
};

bool matches_strings(Model model);
/// The profile allows the candidate for such elements.
bool belongs(const Candidate& candidate, const ProfileOptions& options, const ElementType& type);

/// Less is better: bits of an element, or nanoseconds to encode and write it.
double price(const Contender& contender, const ProfileOptions& options, const ElementType& type);
/// Sorts by price; equal ones stay in the order of the table.
void rank(std::vector<Contender>& contenders, const ProfileOptions& options,
          const ElementType& type);
/// Every pipeline that the profile allows for such elements, with its estimate; the best first.
std::vector<Contender> estimated(const ProfileOptions& options, const Layout& layout,
                                 const Estimates& estimates);
/// How many points of so much data are looked at.
std::size_t points_of(const Layout& layout);

/// What pipelines are tried on.
struct Piece {
  Layout layout;
  ByteSpan raw;
};
/// A contiguous piece of about so many bytes from the middle.
Piece middle_piece(const Layout& layout, ByteSpan raw, std::size_t bytes);
/// Replaces the estimate of a contender by what `piece`, taken from `total` bytes, says.
void try_on(Contender& contender, const Piece& piece, std::size_t total, Scratch& scratch);
/// Tries all on `piece`, string matchers last and only as far as they promise something; the best
/// comes first.
void try_all(std::vector<Contender>& contenders, const ProfileOptions& options, const Piece& piece,
             std::size_t total, Scratch& scratch);

}  // namespace mcr::codecs
