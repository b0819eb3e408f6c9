// SPDX-License-Identifier: BSD-3-Clause
// Says in words why a set is not whole, and what an open gives instead.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "restart/format/stub.hpp"
#include "restart/open/unequal_places.hpp"
#include "restart/sets/generations.hpp"
#include "restart/sets/known_generations.hpp"
#include "restart/sets/names_here.hpp"

namespace mcr::restart {

/// Refers to what an open knows about the set of `stub`; `lost_in` is StageLook::lost_in.
class MixText {
 public:
  MixText(const Stub& stub, const NamesHere& here, const std::vector<Generation>& generations,
          const PresentNames& present,
          const std::set<std::pair<std::string, std::string>>& lost_in);

  /// Names one writing of the set.
  [[nodiscard]] std::string of_name(const GenerationName& name) const;
  /// Why the open is refused, and what the user can do.
  [[nodiscard]] std::string of_refusal(const Choice& choice) const;
  /// Why no earlier set is opened, although there is one.
  [[nodiscard]] std::string of_unequal_places(const Choice& choice,
                                              const UnequalPlaces& places) const;
  /// The same for Choice::passed_over, if other users may add files to the directory of `older_file`.
  [[nodiscard]] std::string of_passed_over(const Choice& choice,
                                           const std::string& older_file) const;
  /// Empty if no part of the set can be found, for example because stubs were copied without their
  /// mcr/. The open then fails, and its message lists the places that were searched.
  [[nodiscard]] std::string of_warning(const Choice& choice) const;
  /// The newest set is whole, but files of another one are at some of the ranks' names.
  [[nodiscard]] std::string of_two_sets(const Choice& choice) const;

 private:
  [[nodiscard]] const Generation* generation(const GenerationName& name) const;
  [[nodiscard]] std::string of_newest(const Choice& choice) const;
  [[nodiscard]] std::string what_is_wrong(const Choice& choice) const;
  [[nodiscard]] std::string node_of_closed_stage(const GenerationName& newest) const;
  [[nodiscard]] std::string how_far_back(const Choice& choice) const;
  [[nodiscard]] bool is_nothing_found(const Choice& choice) const;
  [[nodiscard]] std::string what_is_not_known(const Choice& choice) const;

  const Stub& stub_;
  const NamesHere& here_;
  const std::vector<Generation>& generations_;
  const PresentNames& present_;
  const std::set<std::pair<std::string, std::string>>& lost_in_;
  bool by_part_;  ///< a number of the files' own tells them apart
};

}  // namespace mcr::restart
