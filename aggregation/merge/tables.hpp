// SPDX-License-Identifier: BSD-3-Clause
// Gathers variables of few bytes into tables (docs/design/containers.md, "Tables"). A table is a dataset with the
// pieces of many variables, one after the other. A second dataset, its rows (table_rows.hpp), has the name of the variable
// and the rank for each piece. The variables of a table have one type, and attributes of the same names and types.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "aggregation/merge/common_attributes.hpp"
#include "aggregation/merge/plan.hpp"
#include "codecs/choice/profiles.hpp"

namespace mcr::aggregation {

/// A variable with more bytes has a dataset of its own.
inline constexpr std::uint64_t most_tabled_bytes = 8U << 10;
/// Fewer variables of one kind have datasets of their own, so that a container with few variables looks like the
/// program's file.
inline constexpr std::size_t least_tabled_variables = 64;
/// The least variables in a table. It costs as much as three datasets.
inline constexpr std::size_t least_in_table = 16;

/// A reader of one variable decodes a whole frame of its table.
inline constexpr std::uint64_t table_frame_bytes = 256U << 10;
/// What a variable takes in its dataset of its own beside its values: HDF5's object header and link, the index, and
/// the head of a frame.
inline constexpr std::uint64_t own_dataset_bytes = 440;

/// Finds the variables that may be in tables, and makes the tables. The arguments outlive it, except the datasets.
class TableChoice {
 public:
  /// The program's names stay as they are: if one of them may be a table's, there are no tables.
  TableChoice(const std::vector<DatasetPlan>& datasets, const std::vector<Variable>& variables,
              const PartLayouts& layouts, const Datatypes& types,
              const codecs::ProfileOptions& profile);

  /// By dataset: whether it would be in a table, if it is not linked.
  [[nodiscard]] const std::vector<bool>& suits() const { return suits_; }
  /// Moves the datasets that are not linked into tables; a table takes the place of its first dataset. `datasets` may
  /// have got the dataset of batches since. `likeness(i)` of the datasets in one table is equal. Returns for each
  /// dataset the numbers of those that it was made of.
  [[nodiscard]] std::vector<std::vector<std::size_t>> gather(
      std::vector<DatasetPlan>& datasets, const std::function<std::string(std::size_t)>& likeness,
      std::uint64_t frame_bytes = table_frame_bytes) const;

 private:
  /// What the variables of a table have in common.
  struct Kind {
    std::uint32_t type = 0;
    std::uint32_t attributes = 0;  ///< number of their form
    bool is_opaque = false;
    bool is_flat = false;
    std::vector<std::uint64_t> shape;  ///< of each piece; empty if the table is flat
    std::string likeness = {};

    auto operator<=>(const Kind&) const = default;
  };
  using Kinds = std::map<Kind, std::vector<std::size_t>>;  // numbers of datasets, in order

  /// Returns the kinds with at least `least` variables. Variables of others may be in flat tables.
  static Kinds large_kinds(const Kinds& kinds, std::size_t least);

  const std::vector<Variable>* variables_;
  const PartLayouts* layouts_;
  Kinds kinds_;
  std::vector<bool> suits_;
};

}  // namespace mcr::aggregation
