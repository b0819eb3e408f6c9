// SPDX-License-Identifier: BSD-3-Clause
// Three steps. First every candidate's size is estimated from points (codecs/estimate):
// microseconds for all of them together. Then those that are close to the best are tried on a
// sample of boxes, as far as that costs an eighth of encoding the data. Where much was there
// before, whatever its distance, string matchers are tried against the best on one contiguous
// piece.
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
/// Share of words that were there before from which string matchers are tried on a long piece.
constexpr double repetitive = 0.15;
constexpr std::size_t least_piece = 48 << 10;
constexpr std::size_t largest_piece = 512 << 10;

/// A candidate with what is known of it.
struct Contender {
  Pipeline pipeline;
  Model model;
  double encode_mb_s;
  double bits;  ///< of an element, estimated or tried
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

/// Bytes that `pipeline` makes of `sample`; no value where it does not take it.
std::optional<std::size_t> coded_size(const Pipeline& pipeline, const Sample& sample,
                                      Scratch& scratch) {
  const auto out = scratch.take_vector();
  if (!encode_frame(sample.raw, sample.layout, pipeline, scratch, *out)) return std::nullopt;
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

/// Replaces the estimate of a contender by what `sample`, taken from `total` bytes, says.
void try_on(Contender& contender, const Sample& sample, std::size_t total, Scratch& scratch) {
  const auto size = coded_size(contender.pipeline, sample, scratch);
  if (!size || *size >= sample.raw.size()) {
    contender.bits = size ? 8.0 * sample.layout.type.size : 1e9;
    return;
  }
  const double tables = table_bytes(contender.model, sample.layout.type);
  const double whole = static_cast<double>(std::min(total, usual_frame_bytes));
  const double extra = tables * (1 - static_cast<double>(sample.raw.size()) / whole);
  const auto stored = static_cast<double>(*size);
  const double bytes = std::max(stored / 2, stored - std::max(0.0, extra));
  contender.bits = 8 * bytes / static_cast<double>(sample.layout.count());
}

/// A contiguous piece of about so many bytes from the middle.
Sample middle_piece(const Layout& layout, ByteSpan raw, std::size_t bytes) {
  const std::vector<FramePiece> pieces = plan_frames(layout, bytes);
  const FramePiece& piece = pieces[pieces.size() / 2];
  const ByteSpan own = raw.subspan(piece.begin, piece.bytes);
  return {piece.layout, Bytes(own.begin(), own.end())};
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
  const Sample sample = options.profile == Profile::max
                            ? middle_piece(layout, raw, usual_frame_bytes)
                            : take_sample(layout, raw, std::max<std::size_t>(1, bytes / box_bytes),
                                          std::min(bytes, box_bytes));
  contenders.resize(count);
  for (Contender& contender : contenders) try_on(contender, sample, raw.size(), scratch);
  rank(contenders, options, layout.type);
  return sample.raw.size();
}

/// Where data repeats, estimates and samples of boxes say little of string matchers: those of `all`
/// and the best of the others are tried on one piece. Answers its size.
std::size_t try_repeats(std::vector<Contender>& contenders, const std::vector<Contender>& all,
                        const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                        Scratch& scratch) {
  std::vector<Contender> few;
  for (const Contender& contender : contenders) {
    if (few.empty() && !matches_strings(contender.model)) few.push_back(contender);
  }
  for (const Contender& contender : all) {
    if (matches_strings(contender.model)) few.push_back(contender);
  }
  const Sample piece =
      middle_piece(layout, raw, std::clamp(raw.size() / 6, least_piece, largest_piece));
  for (Contender& contender : few) try_on(contender, piece, raw.size(), scratch);
  rank(few, options, layout.type);
  contenders = std::move(few);
  return piece.raw.size();
}

/// Every pipeline that the profile allows for such elements, with its estimate; the best first.
std::vector<Contender> estimated(const ProfileOptions& options, const Layout& layout,
                                 const Estimates& estimates) {
  std::vector<Contender> contenders;
  for (const Candidate& candidate : candidates()) {
    if (!belongs(candidate, options, layout.type)) continue;
    auto pipeline = Pipeline::parse(candidate.pipeline);
    if (!pipeline) continue;  // a test sees to it that this does not happen
    contenders.push_back({*std::move(pipeline), candidate.model, candidate.encode_mb_s,
                          estimates.of(candidate.model)});
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
  const Sample piece = middle_piece(layout, raw, usual_frame_bytes);
  const auto count = static_cast<std::size_t>(piece.layout.count());
  Contender contender{{}, Model::records, 0, 0};
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
  contender.pipeline.steps.push_back({codec_id::records, *std::move(parameters)});
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

Choice choose_one(const ProfileOptions& options, const Layout& layout, ByteSpan raw,
                  Scratch& scratch, std::span<const Column> columns) {
  const Layout shaped = mesh_layout(layout);
  const std::uint64_t elements = layout.count();
  const auto points = static_cast<std::size_t>(std::clamp<std::uint64_t>(elements / 128, 96, 4096));
  const Estimates estimates = estimate(shaped, raw, points);
  const std::vector<Contender> all = estimated(options, layout, estimates);
  if (all.empty()) return {{}, "nothing takes such elements", 1, 0, {}};
  std::vector<Contender> contenders = all;
  const bool constant = estimates.of(Model::constant) == 0;
  std::size_t tried = 0;
  if (!constant) {
    tried = try_out(contenders, options, shaped, raw, scratch);
    const double seen = estimates.repeated - estimates.frequent;
    if (seen > repetitive && element_class(layout.type) == ElementClass::floating &&
        raw.size() >= least_piece) {
      tried += try_repeats(contenders, all, options, shaped, raw, scratch);
    }
    if (auto by_columns = choose_columns(options, layout, raw, columns, scratch)) {
      const Sample piece = middle_piece(shaped, raw, largest_piece / 2);
      contenders = {*std::move(by_columns), contenders.front()};
      for (Contender& contender : contenders) try_on(contender, piece, raw.size(), scratch);
      tried += piece.raw.size();
      rank(contenders, options, layout.type);
    }
  }
  const Contender& best = contenders.front();
  const double raw_bits = 8.0 * layout.type.size;
  if (best.bits >= raw_bits * 0.999) return {{}, "does not become smaller", 1, 0, {}};
  const double ratio = raw_bits / std::max(best.bits, 0.01);
  std::string why = tried != 0 ? "tried on " + std::to_string(tried >> 10) + " KiB: "
                               : "by " + std::to_string(points) + " points: ";
  why += times(ratio);
  if (contenders.size() > 1) {
    why += "; next " + contenders[1].pipeline.print() + " " +
           times(raw_bits / std::max(contenders[1].bits, 0.01));
  }
  return {best.pipeline, why, ratio, best.encode_mb_s, {}};
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
