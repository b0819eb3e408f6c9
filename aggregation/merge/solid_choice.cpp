// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/solid_choice.hpp"

#include <map>
#include <set>

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
std::size_t plain_bytes(const DatasetPlan& dataset, const codecs::Layout& layout, ByteSpan raw,
                        const codecs::ProfileOptions& profile, Scratch& scratch) {
  const codecs::Choice choice =
      codecs::choose(profile, layout, raw, scratch, dataset.name, dataset.columns);
  Bytes frame;
  if (!codecs::encode_frame(raw, layout, choice.pipeline, scratch, frame)) return raw.size();
  return frame.size();
}

/// Adds section `number` and everything that it needs, but for what is `linked` already, to `more`.
void add_with_needs(const std::vector<codecs::SectionReport>& report, std::uint32_t number,
                    const std::set<std::uint32_t>& linked, std::set<std::uint32_t>& more) {
  if (linked.contains(number) || !more.insert(number).second) return;
  for (const std::uint32_t need : report[number].needs) add_with_needs(report, need, linked, more);
}

/// Solid frames encoded for a look, next to what their sections cost alone.
class Trial {
 public:
  /// `plan`: the batches of `datasets`.
  Trial(const MergePlan& plan, const std::vector<DatasetPlan>& datasets, const PartFiles& files,
        const codecs::ProfileOptions& profile, Scratch& scratch)
      : plan_(plan), datasets_(datasets), files_(files), profile_(profile), scratch_(scratch) {}

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
    std::vector<double> gain(report.size());  // of a section by itself
    std::size_t at = 0;
    for (std::size_t n = 0; n < report.size(); ++n) {
      const auto bytes = static_cast<std::size_t>(report[n].raw_bytes);
      const ByteSpan own = ByteSpan(raw).subspan(at, bytes);
      at += bytes;
      std::size_t plain = report[n].stored_bytes;
      // What nothing predicts is coded alike in both; but for records, whose columns a plain frame
      // has and a solid one has not.
      const bool differs = solid.sections[n].layout.type != solid.elements[n].type;
      if (report[n].is_related || differs) {
        plain =
            plain_bytes(datasets_[solid.datasets[n]], solid.elements[n], own, profile_, scratch_);
      }
      total_ += static_cast<double>(plain);
      gain[n] = static_cast<double>(plain) - static_cast<double>(report[n].stored_bytes);
    }
    std::set<std::uint32_t> linked;
    for (std::uint32_t n = 0; n < report.size(); ++n) {
      if (!report[n].is_related || gain[n] <= 0) continue;
      std::set<std::uint32_t> more;
      add_with_needs(report, n, linked, more);
      double gain_of_all = 0;
      for (const std::uint32_t section : more) gain_of_all += gain[section];
      if (gain_of_all > 0) linked.merge(more);
    }
    for (const std::uint32_t n : linked) {
      gain_ += gain[n];
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
  const std::vector<DatasetPlan>& datasets_;
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
  Trial trial(plan, datasets, files, profile, scratch);
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
