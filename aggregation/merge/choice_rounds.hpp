// SPDX-License-Identifier: BSD-3-Clause
// The order in which pipelines are chosen for datasets, so that datasets of one type and shape can
// share trials (codecs/choice/similar_choices), on several threads and with the same result on any
// number of them. A round holds datasets that are chosen at the same time. The first round has one
// dataset of each type and shape, and each further round twice as many as the round before. A
// dataset shares only trials of earlier rounds. Pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "aggregation/merge/plan.hpp"

namespace mcr::aggregation {

struct ChoiceRounds {
  struct Entry {
    std::size_t dataset;
    std::size_t likeness;  ///< number of the dataset's type and shape
  };
  std::vector<std::vector<Entry>> rounds;
  std::size_t likenesses = 0;
};

ChoiceRounds plan_choices(const std::vector<DatasetPlan>& datasets);

}  // namespace mcr::aggregation
