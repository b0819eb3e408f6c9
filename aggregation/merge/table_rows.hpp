// SPDX-License-Identifier: BSD-3-Clause
// The rows of a table of small variables (docs/design/containers.md, "Tables"): a dataset with the name of the variable and the rank
// for each piece of the table.
#pragma once

#include <hdf5.h>

#include <optional>
#include <string>
#include <vector>

#include "aggregation/merge/common_attributes.hpp"
#include "aggregation/merge/plan.hpp"

namespace mcr::aggregation {

/// Returns the width of a column of texts, in bytes, if the longest text has `longest` bytes.
std::size_t text_bytes(std::size_t longest);

/// Returns the extents of an attribute; nothing if it has no value that a row can hold.
std::optional<std::vector<hsize_t>> extents_of(const AttributeValue& attribute);

/// Calls visit(part, shape) for each piece of a variable, in order.
template <typename Visit>
void for_each_piece(const Variable& variable, const PartLayouts& layouts, const Visit& visit) {
  for (const FragmentRef& fragment : variable.fragments) {
    const DatasetInfo& dataset = layouts[fragment.part]->datasets[fragment.dataset];
    for (std::size_t i = 0; i < dataset.extents.size(); ++i) visit(fragment.part, dataset.shape);
  }
}

/// The rows of a table, one for each piece, in order.
class TableRows {
 public:
  /// `table` is one that TableChoice::gather() made, and outlives the rows, as the other arguments do. Adds the type of a row to
  /// `types`.
  static Result<TableRows> make(const DatasetPlan& table, const std::vector<Variable>& variables,
                                const PartLayouts& layouts, Datatypes& types);

  /// The dataset of rows. No bytes of it are a part's.
  [[nodiscard]] const DatasetPlan& plan() const { return plan_; }
  /// Returns the bytes of a frame of the dataset. `ranks` are those of the parts. Frames in order take the least time.
  [[nodiscard]] Bytes frame(std::uint32_t number, const std::vector<std::uint32_t>& ranks);

 private:
  /// A member of the type that holds an attribute.
  struct Column {
    std::size_t offset = 0;
    std::size_t bytes = 0;  ///< of the whole member; of one string, if the attribute is strings
  };

  /// A variable of the table, and its first piece.
  struct Position {
    std::size_t variable = 0;
    std::size_t piece = 0;
  };

  TableRows(const DatasetPlan& table, const std::vector<Variable>& variables,
            const PartLayouts& layouts)
      : table_(&table), variables_(&variables), layouts_(&layouts) {}
  void find_widths();
  Result<void> make_type(Datatypes& types);
  void write_row(MutableByteSpan row, std::uint32_t rank, std::uint64_t begin,
                 const Variable& variable, const std::vector<std::uint64_t>& shape,
                 const std::vector<AttributeValue>& attributes) const;

  const DatasetPlan* table_;
  const std::vector<Variable>* variables_;
  const PartLayouts* layouts_;
  DatasetPlan plan_;
  std::size_t name_bytes_ = 0;
  std::size_t dimensions_ = 0;       ///< of the member `shape`
  std::vector<std::size_t> widths_;  ///< by attribute: bytes of the longest string
  std::vector<Column> columns_;      ///< by attribute
  Position at_;                      ///< where the last frame ended
};

}  // namespace mcr::aggregation
