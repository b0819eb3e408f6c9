// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/tables.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "aggregation/merge/table_rows.hpp"
#include "restart/format/table_rows.hpp"

namespace mcr::aggregation {
namespace {

/// A row must not take much more than the piece that it names.
constexpr std::uint64_t least_piece_bytes = 64;
constexpr std::uint64_t usual_row_bytes = 512;  // whatever the piece
constexpr std::size_t most_name_bytes = 1000;
constexpr std::size_t most_string_bytes = 255;
/// Of the attributes in a row, and of their types. HDF5's limit on a type is 64 KiB.
constexpr std::size_t most_attribute_bytes = 4096;
constexpr std::size_t most_type_bytes = 32U << 10;
constexpr std::size_t max_hdf5_rank = 32;

std::size_t encoded_bytes(hid_t type) {
  std::size_t size = 0;
  return H5Tencode(type, nullptr, &size) < 0 ? most_type_bytes : size;
}

bool is_standard_size(std::size_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

bool is_ieee_float(hid_t type) {
  const std::array<hid_t, 4> standard{H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE,
                                      H5T_IEEE_F64BE};
  if (std::any_of(standard.begin(), standard.end(),
                  [&](hid_t one) { return H5Tequal(type, one) > 0; })) {
    return true;
  }
  // HDF5 1.14.4 has no name for these.
  std::array<std::size_t, 5> at{};
  return H5Tget_size(type) == 2 &&
         H5Tget_fields(type, at.data(), &at[1], &at[2], &at[3], &at[4]) >= 0 &&
         at == std::array<std::size_t, 5>{15, 10, 5, 0, 10} && H5Tget_ebias(type) == 15 &&
         H5Tget_norm(type) == H5T_NORM_IMPLIED;
}

/// Control bytes are valid.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    if (first < 0x80) continue;
    const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || text.size() - i < more) return false;
    const auto second = static_cast<unsigned char>(text[i]);
    const bool is_too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool is_no_character =
        (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
    if (is_too_long || is_no_character) return false;
    for (const std::size_t end = i + more; i < end; ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80) return false;
    }
  }
  return true;
}

/// True if HDF5's tools and h5py know the type: a column of another would hide the whole table from them.
bool is_usual(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return is_standard_size(H5Tget_size(type)) && H5Tget_precision(type) == 8 * H5Tget_size(type);
    case H5T_FLOAT:
      return is_ieee_float(type);
    case H5T_STRING:
      return H5Tis_variable_str(type) == 0;
    case H5T_ENUM:
    case H5T_ARRAY: {
      const OwnedId base(H5Tget_super(type));
      return base.is_valid() && is_usual(base.get());
    }
    case H5T_COMPOUND: {
      const int members = H5Tget_nmembers(type);
      for (int i = 0; i < members; ++i) {
        const auto number = static_cast<unsigned>(i);
        char* const name = H5Tget_member_name(type, number);
        const bool is_named = name != nullptr && is_utf8(name);
        H5free_memory(name);
        const OwnedId member(H5Tget_member_type(type, number));
        if (!is_named || !member.is_valid() || !is_usual(member.get())) return false;
      }
      return members > 0;
    }
    default:
      return false;
  }
}

/// True if all names are UTF-8 and no two are equal, as in a damaged or forged file.
bool have_own_names(const std::vector<AttributeValue>& attributes) {
  std::set<std::string_view> names;
  for (const AttributeValue& attribute : attributes) {
    if (attribute.name.empty() || !is_utf8(attribute.name) || !names.insert(attribute.name).second)
      return false;
  }
  return true;
}

/// True if a row can hold attributes like these.
bool fit_in_row(const std::vector<AttributeValue>& attributes, const Datatypes& types) {
  if (!have_own_names(attributes)) return false;
  std::size_t value_bytes = 0;
  std::size_t type_bytes = 0;
  for (const AttributeValue& attribute : attributes) {
    const auto extents = extents_of(attribute);
    if (!extents) return false;
    const hsize_t count =
        std::accumulate(extents->begin(), extents->end(), hsize_t{1}, std::multiplies<>());
    const Datatype& type = types[attribute.type];
    if (attribute.strings.empty() && !is_usual(type.id.get())) return false;
    const bool is_whole = attribute.strings.empty() ? attribute.value.size() == count * type.bytes
                                                    : attribute.strings.size() == count;
    if (!is_whole) return false;
    value_bytes +=
        attribute.value.size() + attribute.strings.size() * text_bytes(most_string_bytes);
    type_bytes += attribute.name.size() + encoded_bytes(type.id.get()) + 8 * H5S_MAX_RANK;
  }
  return value_bytes <= most_attribute_bytes && type_bytes <= most_type_bytes;
}

bool has_long_string(const std::vector<AttributeValue>& attributes) {
  return std::any_of(attributes.begin(), attributes.end(), [](const AttributeValue& attribute) {
    return std::any_of(attribute.strings.begin(), attribute.strings.end(),
                       [](const std::string& string) { return string.size() > most_string_bytes; });
  });
}

/// Numbers the forms of attributes, which are their names, types and extents.
class AttributeForms {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  explicit AttributeForms(const Datatypes& types) : types_(types) {}
  /// Returns `none` if a row cannot hold the attributes.
  std::uint32_t number_of(const std::vector<AttributeValue>& attributes) {
    if (has_long_string(attributes)) return none;
    std::string key;
    for (const AttributeValue& attribute : attributes) {
      key += std::to_string(attribute.type) + ' ' + std::to_string(attribute.name.size()) + ' ' +
             std::to_string(attribute.dataspace.size()) + ' ' + attribute.name;
      key += as_text(attribute.dataspace);
    }
    const auto [known, is_new] = numbers_.try_emplace(std::move(key), none);
    if (is_new && fit_in_row(attributes, types_))
      known->second = static_cast<std::uint32_t>(numbers_.size());
    return known->second;
  }

 private:
  const Datatypes& types_;
  std::map<std::string, std::uint32_t> numbers_;
};

bool is_name_taken(const std::vector<Variable>& variables) {
  return std::any_of(variables.begin(), variables.end(), [](const Variable& variable) {
    return variable.name.starts_with(restart::tables_group);
  });
}

bool is_small(const DatasetPlan& dataset, const codecs::ProfileOptions& profile) {
  if (dataset.kind != restart::DatasetKind::variable || dataset.variable < 0) return false;
  const std::uint64_t bytes = dataset.raw_bytes();
  return bytes > 0 && bytes <= most_tabled_bytes &&
         dataset.pieces.size() * least_piece_bytes <= bytes &&
         dataset.name.size() <= most_name_bytes &&
         // A setting for the type suits the table as well.
         codecs::named_pipeline(profile, dataset.name, dataset.element) ==
             codecs::named_pipeline(profile, "", dataset.element);
}

/// True if the variable's rows would take more than its pieces.
bool has_large_rows(const DatasetPlan& dataset, const std::vector<AttributeValue>& attributes) {
  std::uint64_t row = sizeof(std::uint32_t) + text_bytes(dataset.name.size());
  for (const AttributeValue& attribute : attributes) {
    row += attribute.value.size();
    for (const std::string& string : attribute.strings) row += text_bytes(string.size());
  }
  return row > std::max(usual_row_bytes, dataset.raw_bytes() / dataset.pieces.size());
}

DatasetPlan make_table(const std::vector<DatasetPlan>& datasets,
                       const std::vector<std::size_t>& numbers,
                       const std::vector<std::uint64_t>& shape, bool is_flat,
                       std::uint64_t frame_bytes) {
  DatasetPlan table;
  const DatasetPlan& first = datasets[numbers.front()];
  table.type = first.type;
  table.type_bytes = first.type_bytes;
  table.element = first.element;
  table.columns = first.columns;
  table.is_flat_table = is_flat;
  std::uint64_t end = 0;
  for (const std::size_t number : numbers) {
    const DatasetPlan& dataset = datasets[number];
    table.variables.push_back(static_cast<std::size_t>(dataset.variable));
    for (Piece piece : dataset.pieces) {
      const auto& own_shape = dataset.shapes[piece.shape];
      if (table.shapes.empty() || table.shapes.back() != own_shape)
        table.shapes.push_back(own_shape);
      piece.shape = static_cast<std::uint32_t>(table.shapes.size() - 1);
      piece.position = end;
      end += piece.bytes;
      table.pieces.push_back(piece);
    }
  }
  std::vector<std::uint64_t> extents = shape;
  extents.insert(extents.begin(),
                 is_flat ? end / table.type_bytes : std::uint64_t{table.pieces.size()});
  table.set_shape(std::move(extents), frame_bytes);
  return table;
}

/// Lets the solid frames name the datasets by their new numbers.
void renumber(std::vector<DatasetPlan>& datasets, const std::vector<std::uint32_t>& new_number) {
  for (DatasetPlan& dataset : datasets) {
    for (DatasetPlan::SolidFrame& frame : dataset.solid) {
      for (std::uint32_t& number : frame.datasets) number = new_number[number];
      for (auto& source : frame.sources) source.dataset = new_number[source.dataset];
    }
  }
}

}  // namespace

TableChoice::TableChoice(const std::vector<DatasetPlan>& datasets,
                         const std::vector<Variable>& variables, const PartLayouts& layouts,
                         const Datatypes& types, const codecs::ProfileOptions& profile)
    : variables_(&variables), layouts_(&layouts), suits_(datasets.size()) {
  if (datasets.size() < least_tabled_variables || is_name_taken(variables)) return;
  AttributeForms forms(types);
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    const DatasetPlan& dataset = datasets[i];
    if (!is_small(dataset, profile)) continue;
    const Variable& variable = variables[static_cast<std::size_t>(dataset.variable)];
    const auto attributes = common_attributes(variable, layouts);
    if (has_large_rows(dataset, attributes)) continue;
    Kind kind{
        dataset.type, forms.number_of(attributes), variable.form == RawForm::opaque, false, {}};
    if (kind.attributes == AttributeForms::none) continue;
    const std::vector<std::uint64_t>* first = nullptr;
    kind.is_flat = kind.is_opaque;
    for_each_piece(variable, layouts, [&](std::uint32_t, const auto& shape) {
      if (first == nullptr) first = &shape;
      if (shape != *first || shape.size() + 1 > max_hdf5_rank) kind.is_flat = true;
    });
    if (!kind.is_flat) kind.shape = *first;
    kinds_[kind].push_back(i);
  }
  kinds_ = large_kinds(kinds_, least_tabled_variables);
  for (const auto& [kind, numbers] : kinds_) {
    for (const std::size_t number : numbers) suits_[number] = true;
  }
}

TableChoice::Kinds TableChoice::large_kinds(const Kinds& kinds, std::size_t least) {
  Kinds large;
  Kinds flat;
  for (const auto& [kind, numbers] : kinds) {
    const bool is_large = !kind.is_flat && numbers.size() >= least;
    std::vector<std::size_t>& all =
        is_large ? large[kind]
                 : flat[{kind.type, kind.attributes, kind.is_opaque, true, {}, kind.likeness}];
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  for (auto& [kind, numbers] : flat) {
    if (numbers.size() < least) continue;
    std::sort(numbers.begin(), numbers.end());
    large.emplace(kind, std::move(numbers));
  }
  return large;
}

std::vector<std::vector<std::size_t>> TableChoice::gather(
    std::vector<DatasetPlan>& datasets, const std::function<std::string(std::size_t)>& likeness,
    std::uint64_t frame_bytes) const {
  Kinds kinds;
  for (const auto& [kind, numbers] : kinds_) {
    Kind refined = kind;
    for (const std::size_t number : numbers) {
      if (datasets[number].linked) continue;
      refined.likeness = likeness(number);
      kinds[refined].push_back(number);
    }
  }
  std::map<std::size_t, DatasetPlan> tables;  // by the number of their first dataset
  std::vector<std::vector<std::size_t>> origins(datasets.size());
  for (std::size_t i = 0; i < datasets.size(); ++i) origins[i] = {i};
  for (auto& [kind, numbers] : large_kinds(kinds, least_in_table)) {
    tables.emplace(numbers.front(),
                   make_table(datasets, numbers, kind.shape, kind.is_flat, frame_bytes));
    for (const std::size_t number : numbers) origins[number].clear();
    origins[numbers.front()] = numbers;
  }
  if (tables.empty()) return origins;
  std::vector<DatasetPlan> kept;
  std::vector<std::uint32_t> new_number(datasets.size());
  unsigned named = 0;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    if (origins[i].empty()) continue;
    new_number[i] = static_cast<std::uint32_t>(kept.size());
    if (const auto table = tables.find(i); table != tables.end()) {
      using restart::TableRole;
      table->second.name = restart::table_dataset_name(
          ++named, table->second.is_flat_table ? TableRole::elements : TableRole::values);
      kept.push_back(std::move(table->second));
    } else {
      kept.push_back(std::move(datasets[i]));
    }
  }
  std::erase_if(origins, [](const auto& numbers) { return numbers.empty(); });
  renumber(kept, new_number);
  datasets = std::move(kept);
  return origins;
}

}  // namespace mcr::aggregation
