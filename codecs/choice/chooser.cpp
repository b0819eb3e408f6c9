// SPDX-License-Identifier: BSD-3-Clause
// The steps of a choice.
//  1. Every candidate's size is estimated from points (codecs/choice/estimate), which takes
//     microseconds for all of them together.
//  2. Numbers with a common step are tried as multiples of it (codecs/choice/multiples_choice). If
//     the multiples are clearly smaller, steps 3 and 4 are left out.
//  3. The candidates close to the best are tried on a sample of boxes, if that costs at most an
//     eighth of encoding the data.
//  4. If much of the data repeats earlier data, at any distance, string matchers are tried against
//     the best on one contiguous piece.
//  5. If a table of numbers looks best by the points, it is tried on a frame.
#include "codecs/choice/chooser.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <optional>

#include "codecs/base/registry.hpp"
#include "codecs/choice/contenders.hpp"
#include "codecs/choice/estimate.hpp"
#include "codecs/choice/multiples_choice.hpp"
#include "codecs/choice/sample.hpp"
#include "codecs/choice/similar_choices.hpp"
#include "codecs/estimates/code_sizes.hpp"
#include "codecs/frames/frame_plan.hpp"
#include "codecs/records/records_codec.hpp"

namespace mcr::codecs {
namespace {

/// Limits of the trials.
struct Effort {
  double share;      ///< trials may take this share of the time to encode
  double close;      ///< candidates whose estimate is within this factor of the best are tried
  std::size_t most;  ///< candidates
  /// Size of a sample; with a smaller sample, the estimate is better than a trial.
  std::size_t least_bytes;
};
Effort effort_of(Profile profile, ElementClass elements) {
  if (profile == Profile::max) return {1e9, 1.15, 8, 0};
  // Integers are mostly indices and connectivity, and bytes are text and records. Points do not
  // show the repeats in such sequences well, so more is tried. They are a small share of most sets.
  if (elements != ElementClass::floating) return {0.4, 2.5, 5, 32 << 10};
  return {profile == Profile::fast ? 0.06 : 0.12, 1.06, 4, 24 << 10};
}

constexpr std::size_t largest_trial = 256 << 10;
constexpr std::size_t box_bytes = 32 << 10;
/// In data up to this size, points tell little, and a trial covers all data.
constexpr std::size_t small_data = 16 << 10;
constexpr std::size_t least_piece = 48 << 10;

/// Tries the first few contenders on a sample of boxes, and keeps only these. Returns how many
/// bytes were tried; 0 if the trial would have cost too much.
std::size_t try_out(std::vector<Contender>& contenders, const ProfileOptions& options,
                    const Layout& layout, ByteSpan raw, Scratch& scratch) {
  const Effort effort = effort_of(options.profile, element_class(layout.type));
  const double limit = price(contenders.front(), options, layout.type) * effort.close;
  std::size_t count = 1;
  while (count < contenders.size() && count < effort.most &&
         price(contenders[count], options, layout.type) <= limit) {
    ++count;
  }
  // Keep string matchers for data that is not floating point, even if the estimates rank them low.
  const bool sequence = element_class(layout.type) != ElementClass::floating;
  for (std::size_t i = count; i < contenders.size() && sequence; ++i) {
    if (!matches_strings(contenders[i].model)) continue;
    std::rotate(contenders.begin() + static_cast<std::ptrdiff_t>(count),
                contenders.begin() + static_cast<std::ptrdiff_t>(i),
                contenders.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    ++count;
    break;
  }
  const bool small = raw.size() <= small_data;
  if (small) count = std::max(count, std::min<std::size_t>(contenders.size(), 3));
  if (count == 1) return 0;
  double cost = 0;  // seconds to try a megabyte with every candidate
  for (std::size_t i = 0; i < count; ++i) cost += 1 / contenders[i].encode_mb_s;
  const double time =
      effort.share * static_cast<double>(raw.size()) / contenders.front().encode_mb_s;
  auto bytes = static_cast<std::size_t>(std::min(time / cost, static_cast<double>(largest_trial)));
  if (small) bytes = raw.size();
  if (sequence) bytes = std::max(bytes, effort.least_bytes);
  if (bytes < std::min(effort.least_bytes, raw.size())) return 0;
  // Stencils are fitted to a frame, so they cannot be tried on boxes.
  Sample boxes;
  if (options.profile != Profile::max) {
    boxes = take_sample(layout, raw, std::max<std::size_t>(1, bytes / box_bytes),
                        std::min(bytes, box_bytes));
  }
  const Piece piece = options.profile == Profile::max ? middle_piece(layout, raw, usual_frame_bytes)
                                                      : Piece{boxes.layout, boxes.raw};
  contenders.resize(count);
  try_all(contenders, options, piece, raw.size(), scratch);
  return piece.raw.size();
}

/// Tries a table of numbers on a frame if points show that it is clearly the best. A frame is
/// needed, because a table is large beside a sample and small beside a frame. Returns how many
/// bytes were tried.
std::size_t try_dictionary(std::vector<Contender>& contenders, const std::vector<Contender>& all,
                           const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                           Scratch& scratch) {
  // For numbers with a common step, points show well how many distinct numbers there are.
  const double clearly = contenders.front().is_of_multiples ? 1.0 : 0.9;
  const auto found = std::find_if(all.begin(), all.end(), [](const Contender& contender) {
    return contender.model == Model::dictionary;
  });
  const bool tried = contenders.front().model == Model::dictionary;
  if (found == all.end() || tried ||
      price(*found, options, layout.type) >
          clearly * price(contenders.front(), options, layout.type)) {
    return 0;
  }
  Contender dictionary = *found;
  const Piece frame = middle_piece(layout, raw, usual_frame_bytes);
  try_on(dictionary, frame, frame.raw.size(), scratch);
  std::erase_if(contenders,
                [](const Contender& contender) { return contender.model == Model::dictionary; });
  contenders.push_back(std::move(dictionary));
  rank(contenders, options, layout.type);
  return frame.raw.size();
}

/// True unless repeats are so rare that points predict the result of string matchers.
bool repeats_may_pay(const Estimates& estimates, const std::vector<Contender>& all,
                     std::size_t element_bytes) {
  constexpr double repetitive = 0.15;  // share of words that occurred before
  constexpr double very_repetitive = 0.3;
  constexpr double close = 1.1;
  const double seen = estimates.repeated - estimates.frequent;
  if (seen <= repetitive || seen > very_repetitive) return seen > repetitive;
  double best = impossible_bits;
  for (const Contender& contender : all) best = std::min(best, contender.bits);
  // If data shrinks to almost nothing, points do not predict its size, because the small remaining
  // share decides.
  const bool nearly_vanishes = best * 8 < 8.0 * static_cast<double>(element_bytes);
  return nearly_vanishes || estimates.of(Model::words) <= close * best;
}

/// True for integers whose boxes shrink to almost nothing. The boxes then do not show how many
/// exceptions the whole data has, and how regular they are.
bool vanishes_in_boxes(const Contender& tried, const ElementType& type) {
  constexpr double ratio = 64;
  return !matches_strings(tried.model) && tried.bits * ratio < 8.0 * type.size;
}

/// Returns the first contender that is not a string matcher.
const Contender* best_coder(const std::vector<Contender>& contenders) {
  const auto found =
      std::find_if(contenders.begin(), contenders.end(),
                   [](const Contender& contender) { return !matches_strings(contender.model); });
  return found == contenders.end() ? nullptr : &*found;
}

/// On repetitive data, estimates and box samples do not predict the ratio of string matchers. Tries
/// all string matchers of `all`, and the contenders in `few`, on one contiguous piece. Returns the
/// piece's size in bytes.
std::size_t try_repeats(std::vector<Contender> few, std::vector<Contender>& contenders,
                        const std::vector<Contender>& all, const ProfileOptions& options,
                        const Layout& layout, ByteSpan raw, Scratch& scratch) {
  for (const Contender& contender : all) {
    if (matches_strings(contender.model)) few.push_back(contender);
  }
  // A smaller piece is enough for records: they are expensive to try, and a matcher finds their
  // repeats quickly.
  const std::size_t largest =
      !few.empty() && few.front().model == Model::records ? largest_piece / 2 : largest_piece;
  const Piece piece = middle_piece(layout, raw, std::clamp(raw.size() / 8, least_piece, largest));
  try_all(few, options, piece, raw.size(), scratch);
  contenders = std::move(few);
  return piece.raw.size();
}

/// Codes records as columns, and chooses a pipeline for each column. No value if the codec does not
/// take the records.
std::optional<Contender> choose_columns(const ProfileOptions& options, const Layout& layout,
                                        ByteSpan raw, std::span<const Column> columns,
                                        Scratch& scratch) {
  std::uint64_t record_bytes = 0;
  for (const Column& column : columns) record_bytes += column.bytes();
  if (columns.empty() || record_bytes != layout.type.size) return std::nullopt;
  ProfileOptions unnamed = options;
  unnamed.named.clear();
  const Piece piece = middle_piece(layout, raw, usual_frame_bytes);
  const auto count = static_cast<std::size_t>(piece.layout.count());
  Contender contender{Model::records, 0, 0, {}, {}};
  std::vector<Pipeline> pipelines;
  double seconds = 0;
  std::size_t at = 0;
  for (const Column& column : columns) {
    Bytes own(count * static_cast<std::size_t>(column.bytes()));
    gather_column(piece.raw.data() + at, layout.type.size, count,
                  static_cast<std::size_t>(column.bytes()), own.data());
    at += static_cast<std::size_t>(column.bytes());
    Layout shape = column_layout(piece.layout, column);
    shape.type.big_endian = column.type.big_endian;
    Choice choice = choose(unnamed, shape, own, scratch);
    contender.bits += 8 * static_cast<double>(column.bytes()) / std::max(choice.ratio, 1e-3);
    seconds += static_cast<double>(column.bytes()) / std::max(choice.encode_mb_s, 500.0);
    pipelines.push_back(std::move(choice.pipeline));
  }
  auto parameters = records_parameters({columns.begin(), columns.end()}, pipelines);
  if (!parameters) return std::nullopt;
  contender.made.steps.push_back({codec_id::records, *std::move(parameters)});
  contender.encode_mb_s = static_cast<double>(record_bytes) / seconds;
  return contender;
}

std::string times(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", ratio);
  return text;
}

bool chooses(Profile profile) {
  return profile == Profile::fast || profile == Profile::balanced || profile == Profile::max;
}

/// The data of a choice, and what points show of it.
struct Seen {
  const Layout& layout;
  Layout shaped;  ///< as a mesh, if `layout` is flat
  ByteSpan raw;
  std::span<const Column> columns;
  std::size_t points;
  Estimates estimates;
  std::optional<Multiples> multiples;
};

Seen look_at(const Layout& layout, ByteSpan raw, std::span<const Column> columns) {
  Seen seen{layout, mesh_layout(layout), raw, columns, points_of(layout), {}, {}};
  seen.estimates = estimate(seen.shaped, raw, seen.points);
  const bool reverse = layout.type.big_endian != (std::endian::native == std::endian::big);
  if (seen.estimates.of(Model::constant) != 0)
    seen.multiples = find_multiples(layout.type, raw, reverse);
  return seen;
}

Choice choose_one(const ProfileOptions& options, const Seen& seen, Scratch& scratch) {
  const auto& [layout, shaped, raw, columns, points, estimates, common_step] = seen;
  const std::vector<Contender> all = estimated(options, layout, estimates);
  if (all.empty()) return {{}, "nothing takes such elements", 1, 0, {}};
  std::vector<Contender> contenders = all;
  std::size_t tried = 0;
  if (estimates.of(Model::constant) == 0) {
    // a smaller result is not possible
  } else if (auto by_columns = choose_columns(options, layout, raw, columns, scratch)) {
    std::vector<Contender> few{*std::move(by_columns)};
    if (const Contender* other = best_coder(all)) few.push_back(*other);
    tried = try_repeats(std::move(few), contenders, all, options, shaped, raw, scratch);
  } else {
    auto multiples =
        best_of_multiples(common_step, all.front(), options, shaped, raw, scratch, tried);
    if (multiples && options.profile != Profile::max &&
        price(*multiples, options, layout.type) <
            clearly_less * price(all.front(), options, layout.type)) {
      contenders = {*std::move(multiples), all.front()};
    } else {
      tried += try_out(contenders, options, shaped, raw, scratch);
      const bool may_repeat = element_class(layout.type) == ElementClass::floating
                                  ? repeats_may_pay(estimates, all, layout.type.size)
                                  : vanishes_in_boxes(contenders.front(), layout.type);
      if (raw.size() >= least_piece && may_repeat) {
        std::vector<Contender> few;
        if (const Contender* other = best_coder(contenders)) few.push_back(*other);
        tried += try_repeats(std::move(few), contenders, all, options, shaped, raw, scratch);
      }
      if (multiples) {
        tried += try_against(*std::move(multiples), contenders, options, shaped, raw, scratch);
      }
    }
    tried += try_dictionary(contenders, all, options, shaped, raw, scratch);
  }
  const Contender& best = contenders.front();
  const double raw_bits = 8.0 * layout.type.size;
  if (best.bits >= raw_bits * 0.999) return {{}, "does not become smaller", 1, 0, {}};
  const double ratio = raw_bits / std::max(best.bits, 0.01);
  std::string why = tried != 0 ? "tried on " + std::to_string(tried >> 10) + " KiB: "
                               : "by " + std::to_string(points) + " points: ";
  why += times(ratio);
  if (contenders.size() > 1) {
    why += "; next " + contenders[1].pipeline().print() + " " +
           times(raw_bits / std::max(contenders[1].bits, 0.01));
  }
  return {best.pipeline(), why, ratio, best.encode_mb_s, {}};
}

}  // namespace

std::optional<Choice> choice_without_data(const ProfileOptions& options, const ElementType& type,
                                          std::string_view variable) {
  if (const Pipeline* named = named_pipeline(options, variable, type)) {
    return Choice{*named, "named by the settings", 0, 0, {}};
  }
  if (!chooses(options.profile)) {
    return Choice{fixed_pipeline(options.profile, type), "fixed by the profile", 0, 0, {}};
  }
  return std::nullopt;
}

Choice choose(const ProfileOptions& options, const Layout& layout, ByteSpan raw, Scratch& scratch,
              std::string_view variable, std::span<const Column> columns,
              const ChoiceSharing* sharing) {
  if (auto given = choice_without_data(options, layout.type, variable)) return *std::move(given);
  if (raw.empty()) return {{}, "no data", 0, 0, {}};
  const Seen seen = look_at(layout, raw, columns);
  const bool is_shared = sharing != nullptr && columns.empty() && !seen.multiples &&
                         may_be_shared(layout, seen.estimates);
  if (is_shared) {
    if (auto known = sharing->earlier.find(options, layout, seen.estimates))
      return *std::move(known);
  }
  Choice choice = choose_one(options, seen, scratch);
  if (options.profile == Profile::max) {
    ProfileOptions balanced = options;
    balanced.profile = Profile::balanced;
    Choice other = choose_one(balanced, seen, scratch);
    if (other.pipeline != choice.pipeline) choice.other = std::move(other.pipeline);
  }
  if (is_shared) sharing->tried = {layout, seen.estimates, choice};
  return choice;
}

std::vector<Pipeline> allowed_pipelines(const ProfileOptions& options, const ElementType& type) {
  std::vector<Pipeline> pipelines;
  for (const Candidate& candidate : candidates()) {
    if (!belongs(candidate, options, type)) continue;
    if (auto pipeline = Pipeline::parse(candidate.pipeline)) pipelines.push_back(*pipeline);
  }
  return pipelines;
}

}  // namespace mcr::codecs
