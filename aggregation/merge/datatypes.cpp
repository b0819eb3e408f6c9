// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/datatypes.hpp"

#include <algorithm>
#include <array>

#include "codecs/frames/frame.hpp"

namespace mcr::aggregation {
namespace {

Error hdf5_error(const char* what) { return {Cause::damaged, std::string("HDF5: ") + what}; }

bool is_ieee(hid_t type) {
  for (const hid_t ieee : {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE}) {
    if (H5Tequal(type, ieee) > 0) return true;
  }
  // HDF5 1.14 has no type for binary16, so it is recognised by its sign bit, five exponent bits and
  // ten mantissa bits.
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_size(type) == 2 && H5Tget_precision(type) == 16 &&
         H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
         sign == 15 && exponent == 10 && exponent_bits == 5 && mantissa == 0 && mantissa_bits == 10;
}

bool is_word(std::size_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

bool is_big_endian(hid_t type) {
  return H5Tget_size(type) > 1 && H5Tget_order(type) == H5T_ORDER_BE;
}

/// Returns as what kind of element codecs may treat an element of `type`. Unusual types are bytes.
codecs::ElementType element_of(hid_t type) {
  using codecs::ElementKind;
  const std::size_t bytes = H5Tget_size(type);
  const codecs::ElementType as_bytes{ElementKind::bytes, static_cast<std::uint32_t>(bytes), false};
  if (!is_word(bytes)) return as_bytes;
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_BITFIELD: {
      const bool is_signed = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
      return {is_signed ? ElementKind::signed_integer : ElementKind::unsigned_integer,
              static_cast<std::uint32_t>(bytes), is_big_endian(type)};
    }
    case H5T_FLOAT:
      if (!is_ieee(type)) return as_bytes;
      return {ElementKind::floating, static_cast<std::uint32_t>(bytes), is_big_endian(type)};
    case H5T_ENUM:
      return element_of(OwnedId(H5Tget_super(type)).get());
    default:
      return as_bytes;
  }
}

void add_columns(hid_t type, std::vector<codecs::Column>& columns);

void add_column(const codecs::ElementType& type, std::size_t count,
                std::vector<codecs::Column>& columns) {
  if (count == 0) return;
  if (!columns.empty() && columns.back().type == type) {
    columns.back().count += static_cast<std::uint32_t>(count);
  } else {
    columns.push_back({type, static_cast<std::uint32_t>(count)});
  }
}

/// Adds the members in the order of the record's bytes. Padding becomes bytes. HDF5 forbids
/// overlapping members; if a file has them nevertheless, the columns' size differs from the
/// record's, and codecs refuse the columns.
void add_members(hid_t type, std::vector<codecs::Column>& columns) {
  std::map<std::size_t, unsigned> by_offset;
  for (unsigned m = 0; m < static_cast<unsigned>(std::max(H5Tget_nmembers(type), 0)); ++m) {
    by_offset.emplace(H5Tget_member_offset(type, m), m);
  }
  std::size_t at = 0;
  for (const auto& [offset, m] : by_offset) {
    if (offset < at) return;
    add_column({}, offset - at, columns);
    const OwnedId member(H5Tget_member_type(type, m));
    add_columns(member.get(), columns);
    at = offset + H5Tget_size(member.get());
  }
  add_column({}, H5Tget_size(type) - std::min(at, H5Tget_size(type)), columns);
}

void add_columns(hid_t type, std::vector<codecs::Column>& columns) {
  if (columns.size() > codecs::max_columns) return;  // more columns than the codec takes
  if (H5Tget_class(type) == H5T_COMPOUND) return add_members(type, columns);
  if (H5Tget_class(type) == H5T_ARRAY) {
    const OwnedId inner(H5Tget_super(type));
    const std::size_t count =
        H5Tget_size(type) / std::max<std::size_t>(H5Tget_size(inner.get()), 1);
    if (H5Tget_class(inner.get()) != H5T_COMPOUND && H5Tget_class(inner.get()) != H5T_ARRAY) {
      return add_column(element_of(inner.get()), count, columns);
    }
    for (std::size_t i = 0; i < count && columns.size() <= codecs::max_columns; ++i) {
      add_columns(inner.get(), columns);
    }
    return;
  }
  add_column(element_of(type), 1, columns);
}

/// For HDF5, a string of variable length is no variable-length type, and H5Tis_variable_str does not
/// look into arrays and compounds.
bool has_variable_string(hid_t type) {
  if (H5Tis_variable_str(type) != 0) return true;
  if (H5Tget_class(type) == H5T_ARRAY)
    return has_variable_string(OwnedId(H5Tget_super(type)).get());
  if (H5Tget_class(type) != H5T_COMPOUND) return false;
  for (unsigned m = 0; m < static_cast<unsigned>(std::max(H5Tget_nmembers(type), 0)); ++m) {
    if (has_variable_string(OwnedId(H5Tget_member_type(type, m)).get())) return true;
  }
  return false;
}

const char* class_name(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return H5Tget_sign(type) == H5T_SGN_2 ? "int" : "uint";
    case H5T_FLOAT:
      return "float";
    case H5T_STRING:
      return "string";
    case H5T_BITFIELD:
      return "bitfield";
    case H5T_OPAQUE:
      return "opaque";
    case H5T_COMPOUND:
      return "compound";
    case H5T_REFERENCE:
      return "reference";
    case H5T_ENUM:
      return "enum";
    case H5T_VLEN:
      return "variable-length";
    case H5T_ARRAY:
      return "array";
    default:
      return "other";
  }
}

std::string kind_of(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  std::string kind = class_name(type);
  if (type_class == H5T_INTEGER || type_class == H5T_FLOAT) {
    kind += std::to_string(H5Tget_size(type) * 8);
    if (is_big_endian(type)) kind += " big-endian";
  }
  return kind;
}

}  // namespace

Result<std::uint32_t> Datatypes::find_or_add(hid_t type) {
  OwnedId transient(H5Tcopy(type));  // a copy that is independent of a committed type's file
  std::size_t size = 0;
  if (!transient.is_valid() || H5Tencode(transient.get(), nullptr, &size) < 0) {
    return hdf5_error("datatype cannot be read");
  }
  std::string encoded(size, '\0');
  if (H5Tencode(transient.get(), encoded.data(), &size) < 0) {
    return hdf5_error("datatype cannot be read");
  }
  if (const auto known = numbers_.find(encoded); known != numbers_.end()) return known->second;

  Datatype added;
  added.bytes = H5Tget_size(transient.get());
  added.kind = kind_of(transient.get());
  added.refers_to_heap = H5Tdetect_class(transient.get(), H5T_VLEN) != 0 ||
                         H5Tdetect_class(transient.get(), H5T_REFERENCE) != 0 ||
                         has_variable_string(transient.get());
  OwnedId inner(H5Tcopy(transient.get()));
  while (H5Tget_class(inner.get()) == H5T_ARRAY) {
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    const int rank = H5Tget_array_dims2(inner.get(), extents.data());
    for (int i = 0; i < rank; ++i) added.inner.push_back(extents[static_cast<std::size_t>(i)]);
    inner = OwnedId(H5Tget_super(inner.get()));
  }
  added.element = element_of(inner.get());
  if (H5Tget_class(inner.get()) == H5T_COMPOUND) add_columns(inner.get(), added.columns);
  if (added.element.size > codecs::max_element_bytes) {
    added.inner.push_back(added.element.size);
    added.element = {};
  }
  added.id = std::move(transient);
  const auto number = static_cast<std::uint32_t>(types_.size());
  // HDF5 and the columns take several times as much as the encoding.
  memory_bytes_ += 1024 + 4 * encoded.size() + added.columns.size() * sizeof(codecs::Column);
  types_.push_back(std::move(added));
  numbers_.emplace(std::move(encoded), number);
  return number;
}

Result<std::uint32_t> Datatypes::opaque_bytes() { return find_or_add(H5T_STD_U8LE); }

}  // namespace mcr::aggregation
