// SPDX-License-Identifier: BSD-3-Clause
// Which datasets of which parts are pieces of one variable. As in mcrEngine: equal name with its
// groups, equal datatype (byte order included) and class; element counts may differ. Beyond it, for
// names that no other part has: numbers inside path components (`Grid00000012/Density`, another
// number in every file) count as equal, one number at a time from the nearest group on, so that
// fields of different meaning are not mixed; the numbers of the last component only where that
// matches datasets of different parts. Pure: no HDF5, no file.
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
  /// Regular expression (ECMAScript): the text of its groups (without groups: all that it matches)
  /// may differ between names of one variable. Empty: none.
  std::string match;
  /// A variable is merged only if one of its fragments has so many bytes.
  std::uint64_t min_size = 100;
};

/// `layouts` by part, null where a part was not readable. Variables come in the order of their
/// first fragment. Cause::usage where `match` is no regular expression.
Result<std::vector<Variable>> find_variables(
    const std::vector<std::shared_ptr<const PartLayout>>& layouts, const MatchOptions& options);

}  // namespace mcr::aggregation
