// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/chooser.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "codecs/frame.hpp"
#include "codecs/sample.hpp"

namespace mcr::codecs {
namespace {

constexpr std::size_t box_count = 8;
constexpr std::size_t box_bytes = 16 << 10;

struct Trial {
  const Candidate* candidate;
  Pipeline pipeline;
  double ratio;
};

bool belongs(const Candidate& candidate, const ProfileOptions& options, const ElementType& type) {
  if (candidate.elements != element_class(type) || type.size < candidate.first_size) return false;
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

/// Bytes that `pipeline` makes of `sample`; no value where it does not take the layout.
std::optional<std::size_t> coded_size(const Pipeline& pipeline, const Sample& sample,
                                      Scratch& scratch) {
  Layout layout = sample.layout;
  layout.type.big_endian = false;
  const auto out = scratch.take_vector();
  std::vector<std::uint64_t> coded;
  if (!run_encode(pipeline, sample.raw, layout, scratch, *out, coded)) return std::nullopt;
  return std::max<std::size_t>(1, out->size());
}

/// Seconds per raw byte to encode and write; what `bandwidth=` minimises.
double encode_and_write(double encode_mb_s, double ratio, double bandwidth) {
  return 1 / (encode_mb_s * 1e6) + 1 / (ratio * bandwidth);
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

  const Sample sample = take_sample(layout, raw, box_count, box_bytes);
  std::vector<Trial> trials;
  for (const Candidate& candidate : candidates()) {
    if (!belongs(candidate, options, layout.type)) continue;
    auto pipeline = Pipeline::parse(candidate.pipeline);
    if (!pipeline) continue;  // the tests see to it that this does not happen
    const auto size = coded_size(*pipeline, sample, scratch);
    if (!size) continue;
    const double ratio = static_cast<double>(sample.raw.size()) / static_cast<double>(*size);
    trials.push_back({&candidate, *std::move(pipeline), ratio});
  }
  const auto better = [&options](const Trial& a, const Trial& b) {
    if (options.bandwidth > 0) {
      return encode_and_write(a.candidate->encode_mb_s, a.ratio, options.bandwidth) <
             encode_and_write(b.candidate->encode_mb_s, b.ratio, options.bandwidth);
    }
    return a.ratio > b.ratio;
  };
  std::stable_sort(trials.begin(), trials.end(), better);
  if (trials.empty() || trials.front().ratio <= 1.001) {
    return {{}, "does not become smaller in a sample", 1, 0};
  }
  const Trial& best = trials.front();
  std::string why = std::to_string(trials.size()) + " tried on a sample: " + times(best.ratio);
  if (trials.size() > 1) {
    why += "; next " + trials[1].pipeline.print() + " " + times(trials[1].ratio);
  }
  return {best.pipeline, why, best.ratio, best.candidate->encode_mb_s};
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
