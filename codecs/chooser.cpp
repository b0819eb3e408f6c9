// SPDX-License-Identifier: BSD-3-Clause
// Every candidate's size is estimated from points (codecs/estimate): microseconds for all of them
// together, and within a percent for numbers. The least price is taken, without a trial: whoever
// encodes a frame by the choice sees whether it came out as expected, and asks again, carefully,
// where it did not (codecs/chosen_frame). Trials are for what points cannot see: integers and
// records, which are sequences, and `max`.
#include "codecs/chooser.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "codecs/estimate.hpp"
#include "codecs/frame.hpp"
#include "codecs/frame_plan.hpp"
#include "codecs/records/records_codec.hpp"
#include "codecs/registry.hpp"

namespace mcr::codecs {
namespace {

constexpr std::size_t small_data = 16 << 10;

/// How far trials go.
struct Effort {
  double share;             ///< of the time to encode
  double close;             ///< estimates within so much of the best are tried
  std::size_t most;         ///< candidates
  bool relatives;           ///< more than one of a family
  std::size_t least_bytes;  ///< of a piece: below that estimates are better
  std::size_t most_bytes;
};
Effort effort_of(Profile profile, const Layout& layout, Care care) {
  constexpr std::size_t least = 16 << 10;
  if (profile == Profile::max) return {1e9, 1.15, 8, true, 0, usual_frame_bytes};
  if (care == Care::more) return {1.5, 1.5, 3, false, least, usual_frame_bytes};
  // A few kilobytes: points say little of them, and nobody waits for them.
  const std::uint64_t bytes = layout.raw_bytes();
  if (bytes >= 512 && bytes <= small_data) return {4, 1.6, 2, false, 0, small_data};
  // Estimates of floating-point numbers are better than any trial that is worth its time.
  if (element_class(layout.type) == ElementClass::floating) return {0, 1, 1, false, least, least};
  // Integers are indices and connectivity, bytes are text and records: sequences, whose repeats
  // points see badly. They are a small part of most sets.
  return {0.06, 2.5, 3, false, least, 128 << 10};
}

constexpr std::size_t least_record_bytes = 64 << 10;  ///< of a piece of records
constexpr std::size_t most_record_bytes = 256 << 10;
constexpr std::size_t regular_bytes = 64 << 10;  ///< of a piece of very regular data
constexpr double very_regular = 1.0 / 32;        ///< of the raw size

/// A candidate with what is known of it.
struct Contender {
  std::string_view text;             ///< of the table
  std::optional<Pipeline> pipeline;  ///< of what is not in the table
  Model model;
  double encode_mb_s;
  double bits;  ///< of an element, estimated or tried

  [[nodiscard]] Pipeline parsed() const {
    if (pipeline) return *pipeline;
    auto from_table = Pipeline::parse(text);
    return from_table ? *std::move(from_table) : Pipeline{};  // a test sees to it that all parse
  }
};

/// What estimates of two candidates have in common: within a family the better one is known, between
/// families they may err differently.
enum class Family : std::uint8_t { classes, planes, predicted_planes, top_bits, strings, others };
Family family_of(Model model) {
  switch (model) {
    case Model::predicted:
    case Model::split_predicted:
    case Model::contexts:
    case Model::split_contexts:
      return Family::classes;
    case Model::planes:
    case Model::split_planes:
      return Family::planes;
    case Model::planes_predicted:
    case Model::split_planes_predicted:
      return Family::predicted_planes;
    case Model::top_bits:
    case Model::dictionary:
      return Family::top_bits;
    case Model::words:
    case Model::words_delta:
      return Family::strings;
    default:
      return Family::others;
  }
}

/// What a frame holds but for its numbers: tables of codes, about. They weigh more in a small piece.
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

/// A contiguous piece of the data, to try pipelines on.
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
  const auto size = coded_size(contender.parsed(), piece, scratch);
  if (!size || *size >= piece.raw.size()) {
    contender.bits = size ? 8.0 * piece.layout.type.size : 1e9;
    return;
  }
  const double tables = table_bytes(contender.model, piece.layout.type);
  const double whole = static_cast<double>(std::min(total, usual_frame_bytes));
  const double extra = tables * (1 - static_cast<double>(piece.raw.size()) / whole);
  const auto stored = static_cast<double>(*size);
  const double bytes = std::max(stored / 2, stored - std::max(0.0, extra));
  contender.bits = 8 * bytes / static_cast<double>(piece.layout.count());
}

/// About so many bytes from the middle.
Piece middle_piece(const Layout& layout, ByteSpan raw, std::size_t bytes) {
  std::vector<FramePiece> pieces = plan_frames(layout, bytes);
  FramePiece& piece = pieces[pieces.size() / 2];
  return {std::move(piece.layout), raw.subspan(piece.begin, piece.bytes)};
}

/// Those worth a trial: the best of each family that is close, and of string matchers, since what
/// repeats at a distance is what points see worst. For `max`, all that are close.
std::vector<Contender> worth_trying(const std::vector<Contender>& contenders, const Effort& effort,
                                    const ProfileOptions& options, const ElementType& type) {
  const double limit = price(contenders.front(), options, type) * effort.close;
  std::vector<Contender> chosen;
  // Differences and their strong matcher are not worth starting for a few kilobytes.
  bool strings = effort.most < 3 && element_class(type) == ElementClass::integer;
  for (const Contender& contender : contenders) {
    const Family family = family_of(contender.model);
    const bool close = price(contender, options, type) <= limit && chosen.size() < effort.most;
    const bool known =
        !effort.relatives && std::any_of(chosen.begin(), chosen.end(), [&](const Contender& c) {
          return family_of(c.model) == family;
        });
    const bool first_strings = family == Family::strings && !strings;
    if ((close && !known) || first_strings) chosen.push_back(contender);
    strings |= family == Family::strings;
  }
  return chosen;
}

/// Tries the first few contenders on one piece, and keeps only these. Answers how many bytes were
/// tried; 0 where that would have cost too much.
std::size_t try_out(std::vector<Contender>& contenders, const ProfileOptions& options, Care care,
                    const Layout& layout, ByteSpan raw, Scratch& scratch) {
  Effort effort = effort_of(options.profile, layout, care);
  if (effort.share == 0) return 0;
  // Connectivity of a regular mesh: points cannot tell a thousandth from a hundredth, but any
  // pipeline runs through it at several times its usual speed.
  if (effort.share < 1 && raw.size() >= 2 * regular_bytes &&
      contenders.front().bits < 8 * layout.type.size * very_regular) {
    effort = {1e9, 1, 3, false, 0, std::min(effort.most_bytes, regular_bytes)};
  }
  std::vector<Contender> few = worth_trying(contenders, effort, options, layout.type);
  if (few.size() == 1) return 0;
  double cost = 0;  // seconds for a megabyte tried with each
  for (const Contender& contender : few) cost += 1 / contender.encode_mb_s;
  const double time =
      effort.share * static_cast<double>(raw.size()) / contenders.front().encode_mb_s;
  const auto bytes =
      static_cast<std::size_t>(std::min(time / cost, static_cast<double>(effort.most_bytes)));
  if (bytes < std::min(effort.least_bytes, raw.size())) return 0;
  // Stencils are fitted to a frame, which no piece replaces.
  const Piece piece =
      middle_piece(layout, raw, options.profile == Profile::max ? usual_frame_bytes : bytes);
  contenders = std::move(few);
  for (Contender& contender : contenders) try_on(contender, piece, raw.size(), scratch);
  rank(contenders, options, layout.type);
  return piece.raw.size();
}

/// Every pipeline that the profile allows for such elements, with its estimate; the best first.
std::vector<Contender> estimated(const ProfileOptions& options, const Layout& layout,
                                 const Estimates& estimates) {
  std::vector<Contender> contenders;
  for (const Candidate& candidate : candidates()) {
    if (!belongs(candidate, options, layout.type)) continue;
    contenders.push_back({candidate.pipeline,
                          {},
                          candidate.model,
                          candidate.encode_mb_s,
                          estimates.of(candidate.model)});
  }
  rank(contenders, options, layout.type);
  // So little that the points saw next to nothing of it, and say nothing of how it is spread: long
  // runs, which string matchers pass over.
  constexpr double hardly_seen = 1.0 / 512;
  if (!contenders.empty() && contenders.front().model != Model::constant &&
      contenders.front().bits < 8 * layout.type.size * hardly_seen) {
    std::stable_partition(contenders.begin(), contenders.end(),
                          [](const Contender& c) { return family_of(c.model) == Family::strings; });
  }
  return contenders;
}

std::size_t record_trial_bytes(std::size_t raw_bytes) {
  return std::clamp(raw_bytes / 24, least_record_bytes, most_record_bytes);
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
  Contender contender{{}, Pipeline{}, Model::records, 0, 0};
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
  contender.pipeline->steps.push_back({codec_id::records, *std::move(parameters)});
  contender.encode_mb_s = static_cast<double>(record_bytes) / seconds;
  return contender;
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

/// How many points speak for so many elements: a small share, and the smaller the more there are.
std::size_t points_for(std::uint64_t elements) {
  constexpr std::uint64_t few = 65536;
  const std::uint64_t more = elements > few ? (elements - few) / 512 : 0;
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(std::min(elements, few) / 128 + more, 96, 2048));
}

Choice choose_one(const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                  Scratch& scratch, std::span<const Column> columns, Care care) {
  const Layout shaped = mesh_layout(layout);
  const std::size_t points = points_for(layout.count());
  const Estimates estimates = estimate(shaped, raw, points);
  std::vector<Contender> contenders = estimated(options, layout, estimates);
  if (contenders.empty()) return {{}, "nothing takes such elements", 1, 0, {}};
  std::size_t tried = 0;
  if (estimates.of(Model::constant) != 0) {
    tried = try_out(contenders, options, care, shaped, raw, scratch);
    if (auto by_columns = choose_columns(options, layout, raw, columns, scratch)) {
      const Piece piece = middle_piece(shaped, raw, record_trial_bytes(raw.size()));
      contenders = {*std::move(by_columns), contenders.front()};
      for (Contender& contender : contenders) try_on(contender, piece, raw.size(), scratch);
      tried += piece.raw.size();
      rank(contenders, options, layout.type);
    }
  }
  const Contender& best = contenders.front();
  const double raw_bits = 8.0 * layout.type.size;
  // A copy of memory, at no better speed than codecs have where only size has a price.
  const double copy_mb_s = options.bandwidth > 0 ? 8000 : 2000;
  const Contender nothing{{}, Pipeline{}, Model::words, copy_mb_s, raw_bits * 0.999};
  if (price(best, options, layout.type) >= price(nothing, options, layout.type)) {
    return {{}, "does not become smaller", 1, copy_mb_s, {}};
  }
  const double ratio = raw_bits / std::max(best.bits, 0.01);
  std::string why = tried != 0 ? "tried on " + std::to_string(tried >> 10) + " KiB: "
                               : "by " + std::to_string(points) + " points: ";
  why += times(ratio);
  if (contenders.size() > 1) {
    why += "; next " + contenders[1].parsed().print() + " " +
           times(raw_bits / std::max(contenders[1].bits, 0.01));
  }
  return {best.parsed(), why, ratio, best.encode_mb_s, {}};
}

}  // namespace

Choice choose(const ProfileOptions& options, const Layout& layout, ByteSpan raw, Scratch& scratch,
              std::string_view variable, std::span<const Column> columns, Care care) {
  if (const Pipeline* named = named_pipeline(options, variable, layout.type)) {
    return {*named, "named by the settings", 0, 0, {}};
  }
  if (!chooses(options.profile)) {
    return {fixed_pipeline(options.profile, layout.type), "fixed by the profile", 0, 0, {}};
  }
  if (raw.empty()) return {{}, "no data", 0, 0, {}};
  Choice choice = choose_one(options, layout, raw, scratch, columns, care);
  if (options.profile == Profile::max) {
    ProfileOptions balanced = options;
    balanced.profile = Profile::balanced;
    Choice other = choose_one(balanced, layout, raw, scratch, columns, care);
    choice.balanced = Expected{std::move(other.pipeline), other.ratio};
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
