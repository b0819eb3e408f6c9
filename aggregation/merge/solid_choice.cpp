// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/solid_choice.hpp"

#include <map>

#include "aggregation/merge/solid_plan.hpp"
#include "codecs/chooser.hpp"
#include "codecs/frame.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint32_t frames_for_second_trial = 8;
constexpr double least_share = 0.02;  // of the trial frames: less is not worth links

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

/// Solid frames encoded for a look, next to what their sections cost alone.
class Trial {
 public:
  Trial(const MergePlan& plan, const PartFiles& files, const codecs::ProfileOptions& profile,
        Scratch& scratch)
      : plan_(plan), files_(files), profile_(profile), scratch_(scratch) {}

  Result<void> run(std::uint32_t number) {
    const DatasetPlan& batches = plan_.datasets.front();
    const DatasetPlan::SolidFrame& solid = batches.solid[number];
    Bytes raw(static_cast<std::size_t>(batches.used[number]));
    DirectReads reads(files_);
    MCR_TRY(fetch_frame(plan_, reads, batches, batches.frame(number), raw));
    Bytes frame;
    std::vector<codecs::SectionReport> report;
    MCR_TRY(codecs::encode_solid_frame(raw, solid.sections, codecs::solid_options(profile_),
                                       scratch_, frame, &report));
    std::vector<bool> marked(report.size(), false);
    std::vector<std::size_t> plain(report.size());
    std::size_t at = 0;
    for (std::size_t n = 0; n < report.size(); ++n) {
      const auto bytes = static_cast<std::size_t>(report[n].raw_bytes);
      const ByteSpan own = ByteSpan(raw).subspan(at, bytes);
      at += bytes;
      plain[n] = report[n].stored_bytes;
      if (report[n].is_related) plain[n] = plain_bytes(solid.sections[n], own, profile_, scratch_);
      if (report[n].is_related && report[n].stored_bytes < plain[n]) mark(report, n, marked);
    }
    for (std::size_t n = 0; n < report.size(); ++n) {
      total_ += static_cast<double>(plain[n]);
      if (!marked[n]) continue;
      gain_ += static_cast<double>(plain[n]) - static_cast<double>(report[n].stored_bytes);
      linked_.try_emplace(solid.datasets[n], report[n].coding);
    }
    return {};
  }

  [[nodiscard]] double gain() const { return gain_; }
  [[nodiscard]] double total() const { return total_; }
  /// Datasets that gain, or are needed by such, and how they were coded.
  [[nodiscard]] const std::map<std::uint32_t, std::string>& linked() const { return linked_; }

 private:
  const MergePlan& plan_;
  const PartFiles& files_;
  const codecs::ProfileOptions& profile_;
  Scratch& scratch_;
  double gain_ = 0;
  double total_ = 0;
  std::map<std::uint32_t, std::string> linked_;
};

}  // namespace

Result<std::vector<std::string>> choose_solid(std::vector<DatasetPlan>& datasets,
                                              const PartFiles& files,
                                              const codecs::ProfileOptions& profile,
                                              std::uint32_t bytes_type, std::uint64_t frame_bytes,
                                              const std::optional<ChoiceMemory::Links>& known,
                                              Scratch& scratch) {
  std::vector<std::string> reasons(datasets.size());
  if (profile.profile != codecs::Profile::balanced && profile.profile != codecs::Profile::max) {
    return reasons;
  }
  if (known) {
    bool any = false;
    for (std::size_t d = 0; d < datasets.size(); ++d) {
      const auto link = known->find(datasets[d].name);
      if (link == known->end() || !may_link(datasets[d], profile)) continue;
      datasets[d].linked = any = true;
      reasons[d] = link->second;
    }
    if (!any) return reasons;
    datasets.push_back(plan_batches(datasets, bytes_type, frame_bytes));
    reasons.emplace_back();
    return reasons;
  }
  for (DatasetPlan& dataset : datasets) dataset.linked = may_link(dataset, profile);
  MergePlan plan;
  plan.datasets.push_back(plan_batches(datasets, bytes_type, frame_bytes));
  for (DatasetPlan& dataset : datasets) dataset.linked = false;
  const auto frames = static_cast<std::uint32_t>(plan.datasets.front().used.size());
  Trial trial(plan, files, profile, scratch);
  if (frames > 0) MCR_TRY(trial.run(0));
  if (frames >= frames_for_second_trial) MCR_TRY(trial.run(frames / 2));
  if (trial.gain() <= trial.total() * least_share) return reasons;
  for (const auto& [dataset, why] : trial.linked()) {
    datasets[dataset].linked = true;
    reasons[dataset] = why;
  }
  datasets.push_back(plan_batches(datasets, bytes_type, frame_bytes));
  reasons.emplace_back();
  return reasons;
}

}  // namespace mcr::aggregation
