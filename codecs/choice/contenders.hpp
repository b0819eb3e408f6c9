// SPDX-License-Identifier: BSD-3-Clause
// Candidate pipelines with their costs, from an estimate or from a trial on a piece of the data.
#pragma once

#include <string_view>
#include <vector>

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/choice/estimate.hpp"
#include "codecs/choice/profiles.hpp"

namespace mcr::codecs {

inline constexpr std::size_t largest_piece = 512 << 10;

/// A candidate pipeline with its cost.
struct Contender {
  Model model;
  double encode_mb_s;
  double bits;  ///< bits per element, from an estimate or a trial
  /// The pipeline's text, which is parsed when the pipeline is tried or taken.
  std::string_view text;
  Pipeline made;  ///< the pipeline itself, if no text describes it
  /// The pipeline begins with the transform `multiples`, and `model` codes its output.
  bool is_of_multiples = false;

  [[nodiscard]] Pipeline pipeline() const {
    if (text.empty()) return made;
    auto parsed = Pipeline::parse(text);
    return parsed ? *std::move(parsed) : Pipeline{};  // all texts are valid, as a test ensures
  }
};

bool matches_strings(Model model);
/// True if the profile allows the candidate for elements of `type`.
bool belongs(const Candidate& candidate, const ProfileOptions& options, const ElementType& type);

/// Returns the contender's price; a lower price is better. It is bits per element or, with a
/// bandwidth, the nanoseconds to encode and write an element.
double price(const Contender& contender, const ProfileOptions& options, const ElementType& type);
/// Sorts by price; contenders of equal price stay in the order of the table.
void rank(std::vector<Contender>& contenders, const ProfileOptions& options,
          const ElementType& type);
/// Returns all pipelines that the profile allows for elements of this layout, with their estimates,
/// best first.
std::vector<Contender> estimated(const ProfileOptions& options, const Layout& layout,
                                 const Estimates& estimates);
/// Returns how many points are sampled of data of this layout.
std::size_t points_of(const Layout& layout);

/// Data on which pipelines are tried.
struct Piece {
  Layout layout;
  ByteSpan raw;
};
/// Returns a contiguous piece of about `bytes` bytes from the middle.
Piece middle_piece(const Layout& layout, ByteSpan raw, std::size_t bytes);
/// Replaces the estimate of a contender by its result on `piece`, which represents `total` bytes.
void try_on(Contender& contender, const Piece& piece, std::size_t total, Scratch& scratch);
/// Tries all contenders on `piece` and sorts them, best first. String matchers are tried last, and
/// only if they promise a gain.
void try_all(std::vector<Contender>& contenders, const ProfileOptions& options, const Piece& piece,
             std::size_t total, Scratch& scratch);

}  // namespace mcr::codecs
