// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/similar_choices.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "codecs/choice/contenders.hpp"
#include "codecs/estimates/code_sizes.hpp"

namespace mcr::codecs {
namespace {

constexpr std::size_t most_choices = 64;
/// Pipelines whose estimate is within this factor of the best may win a trial.
constexpr double promising = 1.15;
/// How far the estimates of a promising pipeline, as a share of the best estimate, may differ. Few
/// numbers give less accurate estimates, and trials of them weigh more; `max` takes the time.
constexpr double tolerance = 0.005;
constexpr double tolerance_of_few = 0.012;
constexpr std::uint64_t few = 4096;
/// How far the best estimates themselves may differ.
constexpr double level_tolerance = 0.1;

double least_bits(const std::vector<Model>& models, const Estimates& estimates) {
  double least = impossible_bits;
  for (const Model model : models) least = std::min(least, estimates.of(model));
  return least;
}

bool look_alike(const std::vector<Model>& models, double allowed, const Estimates& a,
                const Estimates& b) {
  const double least_a = least_bits(models, a);
  const double least_b = least_bits(models, b);
  if (std::abs(least_a - least_b) > level_tolerance * std::min(least_a, least_b)) return false;
  return std::all_of(models.begin(), models.end(), [&](Model model) {
    const double share_a = a.of(model) / least_a;
    const double share_b = b.of(model) / least_b;
    return std::min(share_a, share_b) > promising || std::abs(share_a - share_b) <= allowed;
  });
}

std::vector<Model> allowed_models(const ProfileOptions& options, const ElementType& type) {
  std::vector<Model> models;
  for (const Candidate& candidate : candidates()) {
    if (belongs(candidate, options, type)) models.push_back(candidate.model);
  }
  return models;
}

}  // namespace

void SimilarChoices::add(TriedChoice tried) {
  if (tried_.size() < most_choices) tried_.push_back(std::move(tried));
}

std::optional<Choice> SimilarChoices::find(const ProfileOptions& options, const Layout& layout,
                                           const Estimates& estimates) const {
  if (tried_.empty()) return std::nullopt;
  const std::vector<Model> models = allowed_models(options, layout.type);
  const bool is_coarse = options.profile != Profile::max && layout.count() <= few;
  const double allowed = is_coarse ? tolerance_of_few : tolerance;
  const auto found = std::find_if(tried_.begin(), tried_.end(), [&](const TriedChoice& tried) {
    return tried.layout == layout && look_alike(models, allowed, tried.estimates, estimates);
  });
  if (found == tried_.end()) return std::nullopt;
  Choice choice = found->choice;
  choice.ratio *= least_bits(models, found->estimates) / least_bits(models, estimates);
  choice.why = "as for a similar variable, " + choice.why;
  return choice;
}

bool may_be_shared(const Layout& layout, const Estimates& estimates) {
  constexpr double repetitive = 0.15;  // share of words that occurred before
  return element_class(layout.type) == ElementClass::floating &&
         estimates.of(Model::constant) != 0 &&
         estimates.repeated - estimates.frequent <= repetitive;
}

}  // namespace mcr::codecs
