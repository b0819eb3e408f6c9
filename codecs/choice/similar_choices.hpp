// SPDX-License-Identifier: BSD-3-Clause
// Lets variables that look alike share one trial. Programs write many variables of one type and
// shape, and trials take most of the time of a choice. If a variable's estimates rank the promising
// pipelines as an earlier variable's did, trials would choose the same pipeline. So the later
// variable takes the earlier one's choice.
#pragma once

#include <optional>
#include <vector>

#include "codecs/base/layout.hpp"
#include "codecs/choice/chooser.hpp"
#include "codecs/choice/estimate.hpp"

namespace mcr::codecs {

/// A choice that was made by trials, and what led to it.
struct TriedChoice {
  Layout layout;
  Estimates estimates;
  Choice choice;
};

/// Choices that were tried with one profile.
class SimilarChoices {
 public:
  /// Remembers a choice, if there are not too many yet.
  void add(TriedChoice tried);

  /// Returns the choice of an earlier variable of this layout that looks like one with these
  /// estimates, with the ratio that is expected here.
  [[nodiscard]] std::optional<Choice> find(const ProfileOptions& options, const Layout& layout,
                                           const Estimates& estimates) const;

 private:
  std::vector<TriedChoice> tried_;
};

/// False if estimates do not predict trials. Integers, records and repetitive data are always tried: their
/// estimates, made from sampled points, do not predict what string matchers find.
bool may_be_shared(const Layout& layout, const Estimates& estimates);

}  // namespace mcr::codecs
