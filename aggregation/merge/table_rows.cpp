// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/table_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "restart/format/table_rows.hpp"

namespace mcr::aggregation {
namespace {

/// Lengths of names and strings are rounded up, so that the rows of later sets mostly have the same type.
constexpr std::size_t text_unit = 16;

}  // namespace

std::size_t text_bytes(std::size_t longest) { return (longest / text_unit + 1) * text_unit; }

std::optional<std::vector<hsize_t>> extents_of(const AttributeValue& attribute) {
  const OwnedId space(H5Sdecode(attribute.dataspace.data()));
  const H5S_class_t form = H5Sget_simple_extent_type(space.get());
  if (form == H5S_SCALAR) return std::vector<hsize_t>{};
  if (form != H5S_SIMPLE) return std::nullopt;
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  if (rank < 1 || std::find(extents.begin(), extents.begin() + rank, 0) != extents.begin() + rank)
    return std::nullopt;
  return std::vector<hsize_t>(extents.begin(), extents.begin() + rank);
}

Result<TableRows> TableRows::make(const DatasetPlan& table, const std::vector<Variable>& variables,
                                  const PartLayouts& layouts, Datatypes& types) {
  TableRows rows(table, variables, layouts);
  rows.find_widths();
  MCR_TRY(rows.make_type(types));
  DatasetPlan& plan = rows.plan_;
  plan.name = table.name.substr(0, table.name.rfind('/')) + "/rows";
  plan.shapes = {{}};
  plan.pieces.push_back({0, 0, 0, table.pieces.size() * plan.type_bytes, 0});
  plan.set_shape({table.pieces.size()});
  return rows;
}

void TableRows::find_widths() {
  std::size_t longest = 0;
  for (const std::size_t number : table_->variables) {
    const Variable& variable = (*variables_)[number];
    longest = std::max(longest, variable.name.size());
    if (table_->is_flat_table) {
      for_each_piece(variable, *layouts_, [&](std::uint32_t, const auto& shape) {
        dimensions_ = std::max({dimensions_, shape.size(), std::size_t{1}});
      });
    }
    const auto attributes = common_attributes(variable, *layouts_);
    widths_.resize(attributes.size());
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      for (const std::string& string : attributes[i].strings)
        widths_[i] = std::max(widths_[i], string.size());
    }
  }
  name_bytes_ = text_bytes(longest);
}

namespace {

OwnedId string_type(std::size_t bytes) {
  OwnedId type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), bytes);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

OwnedId array_of(hid_t type, const std::vector<hsize_t>& extents) {
  if (extents.empty()) return OwnedId(H5Tcopy(type));
  return OwnedId(H5Tarray_create2(type, static_cast<unsigned>(extents.size()), extents.data()));
}

}  // namespace

Result<void> TableRows::make_type(Datatypes& types) {
  std::vector<std::pair<std::string, OwnedId>> members;
  const auto attributes = common_attributes((*variables_)[table_->variables.front()], *layouts_);
  const auto add = [&](std::string name, OwnedId type) {
    // The program's attributes keep their names.
    while (std::any_of(attributes.begin(), attributes.end(),
                       [&](const AttributeValue& attribute) { return attribute.name == name; })) {
      name = "mcr_" + name;
    }
    members.emplace_back(std::move(name), std::move(type));
  };
  add("rank", OwnedId(H5Tcopy(H5T_STD_U32LE)));
  if (table_->is_flat_table) add("begin", OwnedId(H5Tcopy(H5T_STD_U64LE)));
  add("variable", string_type(name_bytes_));
  if (dimensions_ > 0) add("shape", array_of(H5T_STD_U32LE, {dimensions_}));
  const std::size_t own = members.size();
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const AttributeValue& attribute = attributes[i];
    const auto extents = extents_of(attribute).value_or(std::vector<hsize_t>());
    members.emplace_back(attribute.name,
                         attribute.strings.empty()
                             ? array_of(types[attribute.type].id.get(), extents)
                             : array_of(string_type(text_bytes(widths_[i])).get(), extents));
  }
  std::size_t bytes = 0;
  for (const auto& [name, type] : members) bytes += H5Tget_size(type.get());
  const OwnedId row(H5Tcreate(H5T_COMPOUND, bytes));
  std::size_t offset = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const hid_t type = members[i].second.get();
    if (H5Tinsert(row.get(), members[i].first.c_str(), offset, type) < 0)
      return Error{Cause::system, "HDF5: a row of " + table_->name + " has no type"};
    const std::size_t size = H5Tget_size(type);
    if (i >= own) {
      const bool is_strings = !attributes[i - own].strings.empty();
      columns_.push_back({offset, is_strings ? text_bytes(widths_[i - own]) : size});
    }
    offset += size;
  }
  plan_.type = MCR_TRY(types.find_or_add(row.get()));
  plan_.type_bytes = bytes;
  return {};
}

void TableRows::write_row(MutableByteSpan row, std::uint32_t rank, std::uint64_t begin,
                          const Variable& variable, const std::vector<std::uint64_t>& shape,
                          const std::vector<AttributeValue>& attributes) const {
  Bytes head;
  Writer writer(head);
  writer.u32(rank);
  if (table_->is_flat_table) writer.u64(begin);
  writer.bytes(as_bytes(variable.name));
  head.resize(head.size() + name_bytes_ - variable.name.size());
  for (std::size_t i = 0; i < dimensions_; ++i)
    writer.u32(i < shape.size() ? static_cast<std::uint32_t>(shape[i]) : 0);
  std::copy(head.begin(), head.end(), row.begin());
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const MutableByteSpan member = row.subspan(columns_[i].offset);
    const ByteSpan value = attributes[i].value;
    std::copy(value.begin(), value.end(), member.begin());
    for (std::size_t n = 0; n < attributes[i].strings.size(); ++n) {
      const ByteSpan text = as_bytes(attributes[i].strings[n]);
      std::copy(text.begin(), text.end(), member.subspan(n * columns_[i].bytes).begin());
    }
  }
}

Bytes TableRows::frame(std::uint32_t number, const std::vector<std::uint32_t>& ranks) {
  const DatasetPlan::Frame frame = plan_.frame(number);
  const auto row_bytes = static_cast<std::size_t>(plan_.type_bytes);
  const std::size_t first = frame.begin / row_bytes;
  const std::size_t end = first + frame.bytes / row_bytes;
  Bytes bytes(static_cast<std::size_t>(frame.bytes));
  if (at_.piece > first) at_ = {};
  std::size_t piece = at_.piece;
  for (std::size_t i = at_.variable; i < table_->variables.size(); ++i) {
    at_ = {i, piece};
    const Variable& variable = (*variables_)[table_->variables[i]];
    std::optional<std::vector<AttributeValue>> attributes;
    for_each_piece(variable, *layouts_, [&](std::uint32_t part, const auto& shape) {
      if (piece >= first && piece < end) {
        if (!attributes) attributes = common_attributes(variable, *layouts_);
        write_row(MutableByteSpan(bytes).subspan((piece - first) * row_bytes, row_bytes),
                  ranks[part], table_->pieces[piece].position / table_->type_bytes, variable, shape,
                  *attributes);
      }
      ++piece;
    });
    if (piece >= end) break;
  }
  return bytes;
}

}  // namespace mcr::aggregation
