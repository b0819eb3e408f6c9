// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/solid_choice.hpp"

#include <algorithm>

#include "aggregation/merge/solid_plan.hpp"
#include "codecs/chooser.hpp"
#include "codecs/frame.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint64_t trial_bytes = 4U << 20;
constexpr double least_share = 0.02;  // of the trial frame: less is not worth links

bool may_link(const DatasetPlan& dataset, const codecs::ProfileOptions& profile) {
  return dataset.kind == restart::DatasetKind::variable && !dataset.pieces.empty() &&
         codecs::named_pipeline(profile, dataset.name, dataset.element) == nullptr;
}

/// Bytes of a section in a plain frame of its own.
std::size_t plain_bytes(const codecs::Section& section, ByteSpan raw,
                        const codecs::ProfileOptions& profile, Scratch& scratch) {
  const codecs::Choice choice = codecs::choose(profile, section.layout, raw, scratch, section.name);
  Bytes frame;
  if (!codecs::encode_frame(raw, section.layout, choice.pipeline, scratch, frame)) {
    return raw.size();
  }
  return frame.size();
}

/// Marks section `number` and everything that it needs.
void mark(const std::vector<codecs::SectionReport>& report, std::size_t number,
          std::vector<bool>& marked) {
  if (marked[number]) return;
  marked[number] = true;
  for (const std::uint32_t need : report[number].needs) mark(report, need, marked);
}

}  // namespace

Result<std::vector<std::string>> choose_solid(std::vector<DatasetPlan>& datasets,
                                              const PartFiles& files,
                                              const codecs::ProfileOptions& profile,
                                              std::uint32_t bytes_type, std::uint64_t frame_bytes,
                                              Scratch& scratch) {
  std::vector<std::string> reasons(datasets.size());
  if (profile.profile != codecs::Profile::balanced && profile.profile != codecs::Profile::max) {
    return reasons;
  }
  for (DatasetPlan& dataset : datasets) dataset.linked = may_link(dataset, profile);
  MergePlan trial;
  trial.datasets.push_back(plan_batches(datasets, bytes_type, std::min(trial_bytes, frame_bytes)));
  for (DatasetPlan& dataset : datasets) dataset.linked = false;
  const DatasetPlan& batches = trial.datasets.front();
  if (batches.used.empty()) return reasons;
  const auto middle = static_cast<std::uint32_t>(batches.used.size() / 2);
  const DatasetPlan::SolidFrame& solid = batches.solid[middle];
  Bytes raw(static_cast<std::size_t>(batches.used[middle]));
  MCR_TRY(fetch_frame(trial, files, batches, batches.frame(middle), raw));

  Bytes frame;
  std::vector<codecs::SectionReport> report;
  MCR_TRY(codecs::encode_solid_frame(raw, solid.sections, codecs::solid_options(profile), scratch,
                                     frame, &report));
  std::vector<bool> marked(report.size(), false);
  std::vector<std::size_t> plain(report.size());
  std::size_t at = 0;
  for (std::size_t n = 0; n < report.size(); ++n) {
    const auto bytes = static_cast<std::size_t>(report[n].raw_bytes);
    const ByteSpan own = ByteSpan(raw).subspan(at, bytes);
    at += bytes;
    plain[n] = report[n].stored_bytes;
    if (report[n].is_related) plain[n] = plain_bytes(solid.sections[n], own, profile, scratch);
    if (report[n].is_related && report[n].stored_bytes < plain[n]) mark(report, n, marked);
  }
  double gain = 0;
  double total = 0;
  for (std::size_t n = 0; n < report.size(); ++n) {
    total += static_cast<double>(plain[n]);
    if (marked[n]) {
      gain += static_cast<double>(plain[n]) - static_cast<double>(report[n].stored_bytes);
    }
  }
  if (gain < total * least_share) return reasons;
  for (std::size_t n = 0; n < report.size(); ++n) {
    if (!marked[n]) continue;
    datasets[solid.datasets[n]].linked = true;
    reasons[solid.datasets[n]] = report[n].coding;
  }
  datasets.push_back(plan_batches(datasets, bytes_type, frame_bytes));
  reasons.emplace_back();
  return reasons;
}

}  // namespace mcr::aggregation
