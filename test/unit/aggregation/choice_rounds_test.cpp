// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/choice_rounds.hpp"

#include <set>

#include "test/support/catch.hpp"

namespace mcr::aggregation {
namespace {

DatasetPlan flat_dataset(std::uint32_t type, std::uint64_t elements) {
  DatasetPlan plan;
  plan.type = type;
  plan.type_bytes = 8;
  plan.element = {codecs::ElementKind::floating, 8, false};
  plan.shapes = {{elements}};
  plan.pieces = {{0, 0, 0, elements * 8, 0}};
  plan.set_shape({elements});
  return plan;
}

TEST_CASE("datasets of one type and shape are chosen in rounds that double") {
  std::vector<DatasetPlan> datasets;
  for (int i = 0; i < 20; ++i) datasets.push_back(flat_dataset(1, 100));
  const ChoiceRounds plan = plan_choices(datasets);
  std::vector<std::size_t> sizes;
  std::set<std::size_t> planned;
  for (const auto& round : plan.rounds) {
    sizes.push_back(round.size());
    for (const auto& entry : round) {
      planned.insert(entry.dataset);
      REQUIRE(entry.likeness == 0);
    }
  }
  REQUIRE(plan.likenesses == 1);
  REQUIRE(sizes == std::vector<std::size_t>{1, 2, 4, 8, 5});
  REQUIRE(planned.size() == datasets.size());
}

TEST_CASE("datasets of different types or shapes are chosen at the same time") {
  const std::vector<DatasetPlan> datasets{flat_dataset(1, 100), flat_dataset(2, 100),
                                          flat_dataset(1, 101), flat_dataset(1, 100)};
  const ChoiceRounds plan = plan_choices(datasets);
  REQUIRE(plan.likenesses == 3);
  REQUIRE(plan.rounds.size() == 2);
  REQUIRE(plan.rounds[0].size() == 3);
  REQUIRE(plan.rounds[1].size() == 1);
  REQUIRE(plan.rounds[1][0].dataset == 3);
  REQUIRE(plan.rounds[1][0].likeness == plan.rounds[0][0].likeness);
}

}  // namespace
}  // namespace mcr::aggregation
