// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/choice_rounds.hpp"

#include <map>
#include <tuple>

namespace mcr::aggregation {

ChoiceRounds plan_choices(const std::vector<DatasetPlan>& datasets) {
  using Extents = std::vector<std::uint64_t>;
  struct Likeness {
    std::size_t number;
    std::size_t datasets = 0;
  };
  std::map<std::tuple<std::uint32_t, Extents, Extents, std::vector<Extents>>, Likeness> likenesses;
  ChoiceRounds plan;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    const DatasetPlan& dataset = datasets[i];
    Likeness& likeness =
        likenesses
            .try_emplace({dataset.type, dataset.extents, dataset.chunk, dataset.shapes},
                         Likeness{likenesses.size()})
            .first->second;
    // Datasets 0, 1 to 2, 3 to 6 … of a likeness are in rounds 0, 1, 2 …
    std::size_t round = 0;
    while ((std::size_t{2} << round) - 1 <= likeness.datasets) ++round;
    ++likeness.datasets;
    if (round == plan.rounds.size()) plan.rounds.emplace_back();
    plan.rounds[round].push_back({i, likeness.number});
  }
  plan.likenesses = likenesses.size();
  return plan;
}

}  // namespace mcr::aggregation
