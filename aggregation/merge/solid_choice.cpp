// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/solid_choice.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "aggregation/merge/solid_plan.hpp"
#include "aggregation/merge/tables.hpp"
#include "codecs/choice/chooser.hpp"
#include "codecs/choice/estimate.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/frame_plan.hpp"
#include "codecs/solid/solid_encode.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint32_t slabs_for_second_trial = 8;
// Of the size of the trial frames; a smaller gain is not worth the links.
constexpr double least_share = 0.02;

bool may_link(const DatasetPlan& dataset, const codecs::ProfileOptions& profile) {
  return dataset.kind == restart::DatasetKind::variable && !dataset.pieces.empty() &&
         codecs::named_pipeline(profile, dataset.name, dataset.element) == nullptr;
}

/// Returns the size of a section in a plain frame of its own.
std::size_t plain_bytes(const DatasetPlan& dataset, const codecs::Layout& layout, ByteSpan raw,
                        const codecs::ProfileOptions& profile, Scratch& scratch) {
  const codecs::Choice choice =
      codecs::choose(profile, layout, raw, scratch, dataset.name, dataset.columns);
  Bytes frame;
  if (!codecs::encode_frame(raw, layout, choice.pipeline, scratch, frame)) return raw.size();
  return frame.size();
}

/// Adds to `more` section `number` and all sections on which it depends, except those in `linked`.
void add_with_needs(const std::vector<codecs::SectionReport>& report, std::uint32_t number,
                    const std::set<std::uint32_t>& linked, std::set<std::uint32_t>& more) {
  if (linked.contains(number) || !more.insert(number).second) return;
  for (const std::uint32_t need : report[number].needs) add_with_needs(report, need, linked, more);
}

using Scratches = oneapi::tbb::enumerable_thread_specific<Scratch>;

/// Codes the related sections of one solid frame, and compares their sizes with those in plain
/// frames.
class Trial {
 public:
  /// `plan` holds the batches of `datasets`; `number` is one of its frames.
  Trial(const MergePlan& plan, std::uint32_t number, const std::vector<DatasetPlan>& datasets,
        const std::vector<bool>& suits_table, const PartFiles& files,
        const codecs::ProfileOptions& profile, Scratches& scratches)
      : plan_(plan),
        number_(number),
        datasets_(datasets),
        suits_table_(suits_table),
        files_(files),
        profile_(profile),
        scratches_(scratches) {}

  Result<void> run() {
    const DatasetPlan& batches = plan_.datasets.front();
    const DatasetPlan::SolidFrame& solid = batches.solid[number_];
    const auto bytes = static_cast<std::size_t>(batches.used[number_]);
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
    const MutableByteSpan raw(memory.get(), bytes);
    DirectReads reads(files_);
    MCR_TRY(fetch_frame(plan_, reads, batches, batches.frame(number_), raw));
    codecs::ProfileOptions weighing = profile_;
    weighing.profile = codecs::Profile::balanced;
    const std::vector<codecs::SectionReport> report = MCR_TRY(codecs::weigh_sections(
        raw, solid.sections, codecs::solid_options(weighing), scratches_.local()));
    const std::vector<ByteSpan> own = bytes_of_sections(report, raw);
    const std::vector<double> gain = gains(solid, report, own, weighing);
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
    if (!linked.empty()) total_ = estimated_bytes(solid, report, own);
    return {};
  }

  [[nodiscard]] double gain() const { return gain_; }
  [[nodiscard]] double total() const { return total_; }
  /// Returns the datasets that gain and the datasets on which they depend, with how each was coded.
  [[nodiscard]] const std::map<std::uint32_t, std::string>& linked() const { return linked_; }

 private:
  /// Returns how many bytes each section saves in the solid frame.
  std::vector<double> gains(const DatasetPlan::SolidFrame& solid,
                            const std::vector<codecs::SectionReport>& report,
                            const std::vector<ByteSpan>& own,
                            const codecs::ProfileOptions& profile) {
    std::vector<double> gain(report.size());
    const double slabs = plan_.datasets.front().solid.back().slab + 1.0;
    for (std::size_t n = 0; n < report.size(); ++n) {
      if (suits_table_[solid.datasets[n]]) gain[n] = -double{own_dataset_bytes} / slabs;
    }
    oneapi::tbb::parallel_for(std::size_t{0}, report.size(), [&](std::size_t n) {
      if (!report[n].is_related) return;
      std::uint64_t plain = report[n].plain_bytes;
      // Only a plain frame codes the columns of records.
      if (solid.sections[n].layout.type != solid.elements[n].type) {
        plain = plain_bytes(datasets_[solid.datasets[n]], solid.elements[n], own[n], profile,
                            scratches_.local());
      }
      gain[n] += static_cast<double>(plain) - static_cast<double>(report[n].stored_bytes);
    });
    return gain;
  }

  static std::vector<ByteSpan> bytes_of_sections(const std::vector<codecs::SectionReport>& report,
                                                 ByteSpan raw) {
    std::vector<ByteSpan> own;
    for (const codecs::SectionReport& section : report) {
      const auto bytes = static_cast<std::size_t>(section.raw_bytes);
      own.push_back(raw.first(bytes));
      raw = raw.subspan(bytes);
    }
    return own;
  }

  /// Returns about how many bytes all sections have in plain frames.
  static double estimated_bytes(const DatasetPlan::SolidFrame& solid,
                                const std::vector<codecs::SectionReport>& report,
                                const std::vector<ByteSpan>& own) {
    constexpr std::size_t points = 256;
    double total = 0;
    for (std::size_t n = 0; n < report.size(); ++n) {
      if (report[n].is_related) {
        total += static_cast<double>(report[n].plain_bytes);
        continue;
      }
      const codecs::Layout& layout = solid.elements[n];
      const auto bits = codecs::estimate(codecs::mesh_layout(layout), own[n], points).bits;
      const double least = *std::min_element(bits.begin(), bits.end());
      total += std::min(static_cast<double>(own[n].size()),
                        least / 8 * static_cast<double>(layout.count()));
    }
    return total;
  }

  const MergePlan& plan_;
  std::uint32_t number_;
  const std::vector<DatasetPlan>& datasets_;
  const std::vector<bool>& suits_table_;
  const PartFiles& files_;
  const codecs::ProfileOptions& profile_;
  Scratches& scratches_;
  double gain_ = 0;
  double total_ = 0;
  std::map<std::uint32_t, std::string> linked_;
};

}  // namespace

Result<std::vector<std::string>> choose_solid(
    std::vector<DatasetPlan>& datasets, const std::vector<bool>& suits_table,
    const PartFiles& files, const codecs::ProfileOptions& profile, std::uint32_t bytes_type,
    std::uint64_t frame_bytes, const std::optional<ChoiceMemory::Links>& known, unsigned threads) {
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
  const auto& solid = plan.datasets.front().solid;
  Scratches scratches;
  std::vector<Trial> trials;
  // Tries all frames of one slab, because each variable occurs once in a slab.
  const auto try_slab = [&](std::uint32_t slab) {
    for (std::uint32_t frame = 0; frame < solid.size(); ++frame) {
      if (solid[frame].slab == slab)
        trials.emplace_back(plan, frame, datasets, suits_table, files, profile, scratches);
    }
  };
  const std::uint32_t slabs = solid.empty() ? 0 : solid.back().slab + 1;
  if (slabs > 0) try_slab(0);
  if (slabs >= slabs_for_second_trial) try_slab(slabs / 2);
  std::vector<Result<void>> done(trials.size());
  oneapi::tbb::task_arena arena(static_cast<int>(std::max(threads, 1U)));
  arena.execute([&] {
    oneapi::tbb::parallel_for(std::size_t{0}, trials.size(),
                              [&](std::size_t i) { done[i] = trials[i].run(); });
  });
  double gain = 0;
  double total = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    MCR_TRY(done[i]);
    gain += trials[i].gain();
    total += trials[i].total();
  }
  if (gain <= total * least_share) return reasons;
  for (const Trial& trial : trials) {
    for (const auto& [dataset, why] : trial.linked()) {
      if (datasets[dataset].linked) continue;
      datasets[dataset].linked = true;
      reasons[dataset] = why;
    }
  }
  datasets.push_back(plan_batches(datasets, bytes_type, frame_bytes));
  reasons.emplace_back();
  return reasons;
}

}  // namespace mcr::aggregation
