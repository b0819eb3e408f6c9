// SPDX-License-Identifier: BSD-3-Clause
// Three steps. First every candidate's size is estimated from points (codecs/estimate):
// microseconds for all of them together. Then those that are close to the best are tried on a
// sample of boxes, as far as that costs an eighth of encoding the data. Where much was there
// before, whatever its distance, string matchers are tried against the best on one contiguous
// piece; a table of numbers that points promise, on a frame.
#include "codecs/chooser.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "codecs/base/byte_order.hpp"
#include "codecs/base/float_environment.hpp"
#include "codecs/estimate.hpp"
#include "codecs/estimates/code_sizes.hpp"
#include "codecs/frame.hpp"
#include "codecs/frame_plan.hpp"
#include "codecs/multiples/multiples.hpp"
#include "codecs/records/records_codec.hpp"
#include "codecs/registry.hpp"
#include "codecs/sample.hpp"

namespace mcr::codecs {
namespace {

/// How far trials go.
struct Effort {
  double share;             ///< of the time to encode
  double close;             ///< estimates within so much of the best are tried
  std::size_t most;         ///< candidates
  std::size_t least_bytes;  ///< of a sample: below that estimates are better
};
Effort effort_of(Profile profile, ElementClass elements) {
  if (profile == Profile::max) return {1e9, 1.15, 8, 0};
  // Integers are indices and connectivity, bytes are text and records: sequences, whose repeats
  // points see badly. They are a small part of most sets.
  if (elements != ElementClass::floating) return {0.4, 2.5, 5, 32 << 10};
  return {profile == Profile::fast ? 0.06 : 0.12, 1.06, 4, 24 << 10};
}

constexpr std::size_t largest_trial = 256 << 10;
constexpr std::size_t box_bytes = 32 << 10;
constexpr std::size_t small_data = 16 << 10;  ///< points say little of it, and all of it is a trial
constexpr std::size_t least_piece = 48 << 10;
constexpr std::size_t largest_piece = 512 << 10;

/// A candidate with what is known of it.
struct Contender {
  Model model;
  double encode_mb_s;
  double bits;            ///< of an element, estimated or tried
  std::string_view text;  ///< of the pipeline, which is parsed when it is tried or taken
  Pipeline made;          ///< where no text says it

  [[nodiscard]] Pipeline pipeline() const {
    if (text.empty()) return made;
    auto parsed = Pipeline::parse(text);
    return parsed ? *std::move(parsed) : Pipeline{};  // a test sees to it that all texts are right
  }
};

bool matches_strings(Model model) { return model == Model::words || model == Model::words_delta; }

/// What a frame holds but for its numbers: tables of codes, about. They weigh more in a sample.
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

/// What a profile pays for speed: so much more size for half the time.
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

/// Less is better: bits of an element, or nanoseconds to encode and write it.
double price(const Contender& contender, const ProfileOptions& options, const ElementType& type) {
  const double speed = contender.encode_mb_s;
  if (options.bandwidth <= 0) {
    return contender.bits * (1 + halving_worth(options.profile) * std::log2(2000 / speed));
  }
  return type.size * 1e3 / speed + contender.bits / 8 * 1e9 / options.bandwidth;
}

/// What pipelines are tried on.
struct Piece {
  Layout layout;
  ByteSpan raw;
};

/// Bytes that `pipeline` makes of `piece`; no value where it does not take it.
std::optional<std::size_t> coded_size(const Pipeline& pipeline, const Piece& piece,
                                      Scratch& scratch) {
  const auto out = scratch.take_vector();
  if (!encode_frame(piece.raw, piece.layout, pipeline, scratch, *out)) return std::nullopt;
  return out->size();
}

/// Sorts by price; equal ones stay in the order of the table.
void rank(std::vector<Contender>& contenders, const ProfileOptions& options,
          const ElementType& type) {
  std::stable_sort(contenders.begin(), contenders.end(),
                   [&](const Contender& a, const Contender& b) {
                     return price(a, options, type) < price(b, options, type);
                   });
}

/// Replaces the estimate of a contender by what `piece`, taken from `total` bytes, says.
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

/// True where string matching is not worth a trial, which takes ten times as long as the others
/// where nothing repeats: the quickest matcher does worse than `best`, the bits of another pipeline.
/// Of what nearly vanishes it says nothing: there a better search finds many times more.
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

/// Tries all on `piece`, string matchers last and only as far as they promise something; the best
/// comes first.
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
    best = std::min(best, contender->bits);
  }
  rank(contenders, options, piece.layout.type);
}

/// How many points of so much data are looked at.
std::size_t points_of(const Layout& layout) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(layout.count() / 128, 96, 4096));
}

/// A contiguous piece of about so many bytes from the middle.
Piece middle_piece(const Layout& layout, ByteSpan raw, std::size_t bytes) {
  std::vector<FramePiece> pieces = plan_frames(layout, bytes);
  FramePiece& piece = pieces[pieces.size() / 2];
  return {std::move(piece.layout), raw.subspan(piece.begin, piece.bytes)};
}

/// Tries the first few contenders on a sample of boxes, and keeps only these. Answers how many
/// bytes were tried; 0 where that would have cost too much.
std::size_t try_out(std::vector<Contender>& contenders, const ProfileOptions& options,
                    const Layout& layout, ByteSpan raw, Scratch& scratch) {
  const Effort effort = effort_of(options.profile, element_class(layout.type));
  const double limit = price(contenders.front(), options, layout.type) * effort.close;
  std::size_t count = 1;
  while (count < contenders.size() && count < effort.most &&
         price(contenders[count], options, layout.type) <= limit) {
    ++count;
  }
  // Sequences are what string matchers are for, whatever points say.
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
  double cost = 0;  // seconds for a megabyte tried with each
  for (std::size_t i = 0; i < count; ++i) cost += 1 / contenders[i].encode_mb_s;
  const double time =
      effort.share * static_cast<double>(raw.size()) / contenders.front().encode_mb_s;
  auto bytes = static_cast<std::size_t>(std::min(time / cost, static_cast<double>(largest_trial)));
  if (small) bytes = raw.size();
  if (sequence) bytes = std::max(bytes, effort.least_bytes);
  if (bytes < std::min(effort.least_bytes, raw.size())) return 0;
  // Stencils are fitted to a frame, which no boxes replace.
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

/// A table of numbers is dear in a sample and cheap in a frame: where points say that it is clearly
/// the best, it is tried on a frame. Answers its size.
std::size_t try_dictionary(std::vector<Contender>& contenders, const std::vector<Contender>& all,
                           const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                           Scratch& scratch) {
  // Of numbers with a common step points tell well how many different ones there are.
  const double clearly = contenders.front().text.empty() ? 1.0 : 0.9;
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

/// False where nothing repeats, or so little that points tell what string matchers make of it.
bool repeats_may_pay(const Estimates& estimates, const std::vector<Contender>& all,
                     std::size_t element_bytes) {
  constexpr double repetitive = 0.15;  // share of words that were there before
  constexpr double very_repetitive = 0.3;
  constexpr double close = 1.1;
  const double seen = estimates.repeated - estimates.frequent;
  if (seen <= repetitive || seen > very_repetitive) return seen > repetitive;
  double best = impossible_bits;
  for (const Contender& contender : all) best = std::min(best, contender.bits);
  // Of what nearly vanishes they do not: the share that is left decides.
  const bool nearly_vanishes = best * 8 < 8.0 * static_cast<double>(element_bytes);
  return nearly_vanishes || estimates.of(Model::words) <= close * best;
}

/// The first of some contenders that is no string matcher.
const Contender* best_coder(const std::vector<Contender>& contenders) {
  const auto found =
      std::find_if(contenders.begin(), contenders.end(),
                   [](const Contender& contender) { return !matches_strings(contender.model); });
  return found == contenders.end() ? nullptr : &*found;
}

/// Where data repeats, estimates and samples of boxes say little of string matchers: those of `all`
/// and `few` others are tried on one piece. Answers its size.
std::size_t try_repeats(std::vector<Contender> few, std::vector<Contender>& contenders,
                        const std::vector<Contender>& all, const ProfileOptions& options,
                        const Layout& layout, ByteSpan raw, Scratch& scratch) {
  for (const Contender& contender : all) {
    if (matches_strings(contender.model)) few.push_back(contender);
  }
  // Records are dear to try, and a matcher sees quickly that they repeat.
  const std::size_t largest =
      !few.empty() && few.front().model == Model::records ? largest_piece / 2 : largest_piece;
  const Piece piece = middle_piece(layout, raw, std::clamp(raw.size() / 8, least_piece, largest));
  try_all(few, options, piece, raw.size(), scratch);
  contenders = std::move(few);
  return piece.raw.size();
}

/// Every pipeline that the profile allows for such elements, with its estimate; the best first.
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

/// Records as columns, each chosen for itself; no value where the codec does not take them.
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

/// How much less than others multiples cost that need no trial against them.
constexpr double clearly_less = 0.8;

/// Numbers of a common step as multiples of it, with what is best for these on a piece of them; no
/// value where there is no step, or nothing that comes close to `other` by estimates. Adds the size
/// of the piece to `tried`.
std::optional<Contender> best_of_multiples(const Contender& other, const ProfileOptions& options,
                                           const Layout& layout, ByteSpan raw, Scratch& scratch,
                                           std::size_t& tried) {
  constexpr double transform_mb_s = 1500;
  constexpr std::size_t most = 3;
  constexpr double close = 1.2;
  const ElementType& type = layout.type;
  const bool reverse = type.big_endian != (std::endian::native == std::endian::big);
  const auto found = find_multiples(type, raw, reverse);
  if (!found) return std::nullopt;
  const Piece piece = middle_piece(layout, raw, largest_piece);
  Bytes numbers(piece.raw.begin(), piece.raw.end());
  if (reverse) reverse_elements(numbers, type.size, numbers);
  {
    const DefaultFloatEnvironment mode;
    multiples_encode(*found, type, numbers.data(), numbers.size() / type.size, numbers.data());
  }
  Piece steps{piece.layout, numbers};
  steps.layout.type = {ElementKind::signed_integer, type.size,
                       std::endian::native == std::endian::big};
  const Estimates estimates = estimate(steps.layout, steps.raw, points_of(steps.layout));
  std::vector<Contender> few = estimated(options, steps.layout, estimates);
  // As a table the numbers themselves are as small, and what is constant here need not be elsewhere.
  // Of fields, string matchers see no more in multiples than in the numbers, and take longest.
  const bool field = element_class(type) == ElementClass::floating;
  std::erase_if(few, [field](const Contender& contender) {
    return contender.model == Model::dictionary || contender.model == Model::constant ||
           (field && matches_strings(contender.model));
  });
  if (few.empty()) return std::nullopt;
  const double limit =
      close * std::min(price(few.front(), options, steps.layout.type), price(other, options, type));
  std::erase_if(few, [&](const Contender& contender) {
    return price(contender, options, steps.layout.type) > limit;
  });
  if (few.size() > most) few.resize(most);
  const auto transform = Pipeline::parse("multiples(auto)");
  if (few.empty() || !transform) return std::nullopt;
  try_all(few, options, steps, raw.size(), scratch);
  Contender multiples = std::move(few.front());
  multiples.made = multiples.pipeline();
  multiples.text = {};
  multiples.made.steps.insert(multiples.made.steps.begin(), transform->steps.front());
  multiples.encode_mb_s = 1 / (1 / transform_mb_s + 1 / multiples.encode_mb_s);
  tried += piece.raw.size();
  return multiples;
}

/// Tries the best of `contenders` on a piece like that of `multiples`, where it may win, and ranks
/// the two. Answers what was tried.
std::size_t try_against(Contender multiples, std::vector<Contender>& contenders,
                        const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                        Scratch& scratch) {
  Contender other = contenders.front();
  const double share = price(multiples, options, layout.type) / price(other, options, layout.type);
  std::size_t tried = 0;
  if (share > clearly_less && share < 1 / clearly_less) {
    // A table of numbers is dear in less than a frame.
    const bool table = other.model == Model::dictionary;
    const Piece piece = middle_piece(layout, raw, table ? usual_frame_bytes : largest_piece);
    try_on(other, piece, raw.size(), scratch);
    tried = piece.raw.size();
  }
  contenders = {std::move(other), std::move(multiples)};
  rank(contenders, options, layout.type);
  return tried;
}

std::string times(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", ratio);
  return text;
}

}  // namespace

namespace {

bool chooses(Profile profile) {
  return profile == Profile::fast || profile == Profile::balanced || profile == Profile::max;
}

Choice choose_one(const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                  Scratch& scratch, std::span<const Column> columns) {
  const Layout shaped = mesh_layout(layout);
  const std::size_t points = points_of(layout);
  const Estimates estimates = estimate(shaped, raw, points);
  const std::vector<Contender> all = estimated(options, layout, estimates);
  if (all.empty()) return {{}, "nothing takes such elements", 1, 0, {}};
  std::vector<Contender> contenders = all;
  std::size_t tried = 0;
  if (estimates.of(Model::constant) == 0) {
    // nothing is smaller
  } else if (auto by_columns = choose_columns(options, layout, raw, columns, scratch)) {
    std::vector<Contender> few{*std::move(by_columns)};
    if (const Contender* other = best_coder(all)) few.push_back(*other);
    tried = try_repeats(std::move(few), contenders, all, options, shaped, raw, scratch);
  } else {
    auto multiples = best_of_multiples(all.front(), options, shaped, raw, scratch, tried);
    if (multiples && options.profile != Profile::max &&
        price(*multiples, options, layout.type) <
            clearly_less * price(all.front(), options, layout.type)) {
      contenders = {*std::move(multiples), all.front()};
    } else {
      tried += try_out(contenders, options, shaped, raw, scratch);
      if (element_class(layout.type) == ElementClass::floating && raw.size() >= least_piece &&
          repeats_may_pay(estimates, all, layout.type.size)) {
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

Choice choose(const ProfileOptions& options, const Layout& layout, ByteSpan raw, Scratch& scratch,
              std::string_view variable, std::span<const Column> columns) {
  if (const Pipeline* named = named_pipeline(options, variable, layout.type)) {
    return {*named, "named by the settings", 0, 0, {}};
  }
  if (!chooses(options.profile)) {
    return {fixed_pipeline(options.profile, layout.type), "fixed by the profile", 0, 0, {}};
  }
  if (raw.empty()) return {{}, "no data", 0, 0, {}};
  Choice choice = choose_one(options, layout, raw, scratch, columns);
  if (options.profile == Profile::max) {
    ProfileOptions balanced = options;
    balanced.profile = Profile::balanced;
    Choice other = choose_one(balanced, layout, raw, scratch, columns);
    if (other.pipeline != choice.pipeline) choice.other = std::move(other.pipeline);
  }
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
