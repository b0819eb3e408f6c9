// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/contenders.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "codecs/base/registry.hpp"
#include "codecs/estimates/code_sizes.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/frame_plan.hpp"

namespace mcr::codecs {
namespace {

/// Returns about how many bytes of a frame are tables of codes. Tables are a larger share of a
/// sample than of a frame.
double table_bytes(Model model, const ElementType& type) {
  switch (model) {
    case Model::planes:
    case Model::planes_predicted:
    case Model::split_planes:
    case Model::split_planes_predicted:
      return 50.0 * std::min(type.size, 64U);
    case Model::contexts:
    case Model::split_contexts:
      return 400;
    default:
      return 80;
  }
}

bool takes(const Candidate& candidate, const ElementType& type) {
  switch (element_class(type)) {
    case ElementClass::bytes:
      return candidate.bytes;
    case ElementClass::integer:
      return candidate.integer;
    case ElementClass::floating:
      return candidate.floating;
  }
  return false;
}

/// Returns by which share a result may be larger, for the profile to accept it, if it takes half
/// the time.
double halving_worth(Profile profile) {
  switch (profile) {
    case Profile::fast:
      return 0.008;
    case Profile::balanced:
      return 0.004;
    default:
      return 0;
  }
}

/// Returns the size of `piece` coded by `pipeline`; no value if the pipeline does not take the
/// piece.
std::optional<std::size_t> coded_size(const Pipeline& pipeline, const Piece& piece,
                                      Scratch& scratch) {
  const auto out = scratch.take_vector();
  if (!encode_frame(piece.raw, piece.layout, pipeline, scratch, *out)) return std::nullopt;
  return out->size();
}

/// True if a trial of string matching is not worth its time, which is ten times that of other
/// codings if the data does not repeat. That is the case if the quickest matcher needs more than
/// `best`, the bits of another pipeline. False if the data shrinks to almost nothing, because a
/// better search then finds many times more.
bool matches_badly(const Contender& contender, double best, const Piece& piece, Scratch& scratch) {
  constexpr std::byte quickest{1};
  constexpr std::byte slow{9};
  constexpr double nearly_vanishes = 1.0 / 8;
  constexpr double margin = 1.05;
  Pipeline pipeline = contender.pipeline();
  Step& last = pipeline.steps.back();
  if (last.codec != codec_id::zstd || last.parameters != Bytes{slow}) return false;
  last.parameters = {quickest};
  const auto size = coded_size(pipeline, piece, scratch);
  if (!size) return true;
  const auto raw = static_cast<double>(piece.raw.size());
  const auto stored = static_cast<double>(*size);
  return stored > nearly_vanishes * raw &&
         8 * stored > margin * best * static_cast<double>(piece.layout.count());
}

}  // namespace

bool matches_strings(Model model) { return model == Model::words || model == Model::words_delta; }

bool belongs(const Candidate& candidate, const ProfileOptions& options, const ElementType& type) {
  if (!takes(candidate, type)) return false;
  if (options.bandwidth > 0) return true;
  switch (options.profile) {
    case Profile::fast:
      return candidate.fast;
    case Profile::balanced:
      return candidate.balanced;
    case Profile::max:
      return candidate.max;
    default:
      return false;
  }
}

double price(const Contender& contender, const ProfileOptions& options, const ElementType& type) {
  const double speed = contender.encode_mb_s;
  if (options.bandwidth <= 0) {
    return contender.bits * (1 + halving_worth(options.profile) * std::log2(2000 / speed));
  }
  return type.size * 1e3 / speed + contender.bits / 8 * 1e9 / options.bandwidth;
}

void rank(std::vector<Contender>& contenders, const ProfileOptions& options,
          const ElementType& type) {
  std::stable_sort(contenders.begin(), contenders.end(),
                   [&](const Contender& a, const Contender& b) {
                     return price(a, options, type) < price(b, options, type);
                   });
}

std::vector<Contender> estimated(const ProfileOptions& options, const Layout& layout,
                                 const Estimates& estimates) {
  std::vector<Contender> contenders;
  for (const Candidate& candidate : candidates()) {
    if (!belongs(candidate, options, layout.type)) continue;
    contenders.push_back({candidate.model,
                          candidate.encode_mb_s,
                          estimates.of(candidate.model),
                          candidate.pipeline,
                          {}});
  }
  rank(contenders, options, layout.type);
  return contenders;
}

std::size_t points_of(const Layout& layout) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(layout.count() / 128, 96, 4096));
}

Piece middle_piece(const Layout& layout, ByteSpan raw, std::size_t bytes) {
  std::vector<FramePiece> pieces = plan_frames(layout, bytes);
  FramePiece& piece = pieces[pieces.size() / 2];
  return {std::move(piece.layout), raw.subspan(piece.begin, piece.bytes)};
}

void try_on(Contender& contender, const Piece& piece, std::size_t total, Scratch& scratch) {
  const auto size = coded_size(contender.pipeline(), piece, scratch);
  if (!size || *size >= piece.raw.size()) {
    contender.bits = size ? 8.0 * piece.layout.type.size : impossible_bits;
    return;
  }
  const double tables = table_bytes(contender.model, piece.layout.type);
  const double whole = static_cast<double>(std::min(total, usual_frame_bytes));
  const double extra = tables * (1 - static_cast<double>(piece.raw.size()) / whole);
  const auto stored = static_cast<double>(*size);
  const double bytes = std::max(stored / 2, stored - std::max(0.0, extra));
  contender.bits = 8 * bytes / static_cast<double>(piece.layout.count());
}

void try_all(std::vector<Contender>& contenders, const ProfileOptions& options, const Piece& piece,
             std::size_t total, Scratch& scratch) {
  const auto matchers = std::stable_partition(
      contenders.begin(), contenders.end(),
      [](const Contender& contender) { return !matches_strings(contender.model); });
  double best = impossible_bits;
  for (auto contender = contenders.begin(); contender != contenders.end(); ++contender) {
    if (contender >= matchers && options.profile != Profile::max &&
        matches_badly(*contender, best, piece, scratch)) {
      contender->bits = impossible_bits;
      continue;
    }
    try_on(*contender, piece, total, scratch);
    if (contender < matchers) best = std::min(best, contender->bits);
  }
  rank(contenders, options, piece.layout.type);
}

}  // namespace mcr::codecs
