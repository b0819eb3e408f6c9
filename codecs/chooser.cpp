// SPDX-License-Identifier: BSD-3-Clause
// Two steps. First every candidate's size is estimated from points (codecs/estimate): microseconds
// for all of them together. Then those that are close to the best are tried on a sample, as far as
// that costs no more than a twenty-fifth of encoding the data. Small variables are chosen by
// estimate alone.
#include "codecs/chooser.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "codecs/estimate.hpp"
#include "codecs/frame.hpp"
#include "codecs/frame_plan.hpp"
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
  if (profile == Profile::max) return {0.3, 1.12, 6, 8 << 10};
  // Integers are indices and connectivity: sequences, whose repeats points see badly. They are a
  // small part of most sets.
  if (elements == ElementClass::integer) return {0.35, 1e9, 6, 4 << 10};
  return {0.025, 1.06, 4, 16 << 10};
}

constexpr std::size_t largest_trial = 256 << 10;
constexpr std::size_t box_bytes = 32 << 10;

/// A candidate with what is known of it.
struct Contender {
  const Candidate* candidate;
  Pipeline pipeline;
  double bits;  ///< of an element, estimated or tried
};

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
  const auto speed = static_cast<double>(contender.candidate->encode_mb_s);
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

/// Replaces the estimates of the first few contenders by what a sample says, and keeps only these.
/// Answers how many bytes were tried; 0 where that would have cost too much.
std::size_t try_out(std::vector<Contender>& contenders, const ProfileOptions& options,
                    const Layout& layout, ByteSpan raw, Scratch& scratch) {
  const Effort effort = effort_of(options.profile, element_class(layout.type));
  const double limit = price(contenders.front(), options, layout.type) * effort.close;
  std::size_t count = 1;
  while (count < contenders.size() && count < effort.most &&
         price(contenders[count], options, layout.type) <= limit) {
    ++count;
  }
  if (count == 1) return 0;
  double cost = 0;  // seconds for a megabyte tried with each
  for (std::size_t i = 0; i < count; ++i) {
    cost += 1 / static_cast<double>(contenders[i].candidate->encode_mb_s);
  }
  const double time = effort.share * static_cast<double>(raw.size()) /
                      static_cast<double>(contenders.front().candidate->encode_mb_s);
  const auto bytes = std::min(static_cast<std::size_t>(time / cost), largest_trial);
  if (bytes < effort.least_bytes) return 0;
  const Sample sample = take_sample(layout, raw, std::max<std::size_t>(1, bytes / box_bytes),
                                    std::min(bytes, box_bytes));
  const auto elements = static_cast<double>(sample.layout.count());
  contenders.resize(count);
  for (Contender& contender : contenders) {
    const auto size = coded_size(contender.pipeline, sample, scratch);
    contender.bits = size ? 8 * static_cast<double>(*size) / elements : 1e9;
  }
  rank(contenders, options, layout.type);
  return sample.raw.size();
}

std::string times(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", ratio);
  return text;
}

}  // namespace

Choice choose(const ProfileOptions& options, const Layout& layout, ByteSpan raw, Scratch& scratch,
              std::string_view variable) {
  if (const Pipeline* named = named_pipeline(options, variable, layout.type)) {
    return {*named, "named by the settings", 1, 0};
  }
  const bool chooses = options.profile == Profile::fast || options.profile == Profile::balanced ||
                       options.profile == Profile::max;
  if (!chooses) {
    return {fixed_pipeline(options.profile, layout.type), "fixed by the profile", 1, 0};
  }
  if (raw.empty()) return {{}, "no data", 1, 0};

  const Layout shaped = mesh_layout(layout);
  const std::uint64_t elements = layout.count();
  const auto points = static_cast<std::size_t>(std::clamp<std::uint64_t>(elements / 128, 96, 4096));
  const Estimates estimates = estimate(shaped, raw, points);
  std::vector<Contender> contenders;
  for (const Candidate& candidate : candidates()) {
    if (!belongs(candidate, options, layout.type)) continue;
    auto pipeline = Pipeline::parse(candidate.pipeline);
    if (!pipeline) continue;  // a test sees to it that this does not happen
    contenders.push_back({&candidate, *std::move(pipeline), estimates.of(candidate.model)});
  }
  if (contenders.empty()) return {{}, "nothing takes such elements", 1, 0};
  rank(contenders, options, layout.type);
  const std::size_t tried = try_out(contenders, options, shaped, raw, scratch);

  const Contender& best = contenders.front();
  const double raw_bits = 8.0 * layout.type.size;
  if (best.bits >= raw_bits * 0.999) return {{}, "does not become smaller", 1, 0};
  const double ratio = raw_bits / std::max(best.bits, 0.01);
  std::string why = tried != 0 ? "tried on " + std::to_string(tried >> 10) + " KiB: "
                               : "by " + std::to_string(points) + " points: ";
  why += times(ratio);
  if (contenders.size() > 1) {
    why += "; next " + contenders[1].pipeline.print() + " " +
           times(raw_bits / std::max(contenders[1].bits, 0.01));
  }
  return {best.pipeline, why, ratio, static_cast<double>(best.candidate->encode_mb_s)};
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
