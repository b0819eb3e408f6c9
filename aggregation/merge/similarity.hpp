// SPDX-License-Identifier: BSD-3-Clause
// Finds the datasets that are fragments of one variable. Two datasets are, as in mcrEngine, if their
// names with all groups, their datatypes (byte order included) and their classes are equal; their element
// counts may differ.
// Beyond mcrEngine, for names that only one part has: numbers inside path components
// (`Grid00000012/Density`, another number in every file) count as equal. First only the last number
// of the groups is masked, then all of them, so that fields of different meaning are not mixed.
// Numbers of the last component are masked only if that matches datasets of different parts. Pure
// functions: no HDF5, no file.
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

/// `layouts` is indexed by part; null: the part was not readable. Returns the variables in the
/// order of their first fragment. Cause::usage: `match` is not a valid regular expression.
Result<std::vector<Variable>> find_variables(
    const std::vector<std::shared_ptr<const PartLayout>>& layouts, const MatchOptions& options);

}  // namespace mcr::aggregation
