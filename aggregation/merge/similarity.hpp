// SPDX-License-Identifier: BSD-3-Clause
// Finds the datasets that are fragments of one variable. As in mcrEngine, two datasets belong to
// one variable if their paths, datatypes (byte order included) and classes are equal. Their element
// counts may differ. Beyond mcrEngine, numbers in a path may differ if only one part has the path
// (`Grid00000012/Density`, with another number in every file). First only the last number of the
// groups is masked, then all numbers of the groups, so that fields of different meaning are not
// mixed. Numbers of the last component are masked only if that matches datasets of different parts.
// Pure functions: no HDF5, no file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aggregation/merge/part_inventory.hpp"

namespace mcr::aggregation {

struct FragmentRef {
  std::uint32_t part = 0;     ///< position in the list of layouts
  std::uint32_t dataset = 0;  ///< position in the layout's datasets
};

struct Variable {
  std::string name;  ///< path in the container, `{n}` where numbers differ; unique
  std::uint32_t type = 0;
  RawForm form = RawForm::whole;
  std::vector<FragmentRef> fragments;  ///< by part, then in the part's order
};

struct MatchOptions {
  /// Regular expression (ECMAScript). The text of its groups, or without groups the whole match,
  /// may differ between names of one variable. Empty: no expression.
  std::string match;
  /// A variable is merged only if one of its fragments has at least this many bytes.
  std::uint64_t min_size = 100;
};

/// `layouts` is indexed by part; null means that the part was not readable. Returns the variables
/// in the order of their first fragments. Cause::usage: `match` is not a valid regular expression.
Result<std::vector<Variable>> find_variables(
    const std::vector<std::shared_ptr<const PartLayout>>& layouts, const MatchOptions& options);

}  // namespace mcr::aggregation
