// SPDX-License-Identifier: BSD-3-Clause
#include "bench/compression/rank_files.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

namespace mcr::bench {
namespace {

using codecs::ElementKind;
using codecs::ElementType;
using codecs::Shape;

std::string masked(std::string_view path) {
  std::string name;
  for (std::size_t i = 0; i < path.size();) {
    std::size_t end = i;
    while (end < path.size() && std::isdigit(static_cast<unsigned char>(path[end])) != 0) ++end;
    if (end - i >= 4) {
      name += "{n}";
    } else {
      name += path.substr(i, std::max<std::size_t>(end - i, 1));
    }
    i = std::max(end, i + 1);
  }
  return name;
}

ElementType type_of(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  const bool word = size == 1 || size == 2 || size == 4 || size == 8;
  ElementType element{ElementKind::bytes, static_cast<std::uint32_t>(size), false};
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_INTEGER && word) {
    element.kind = H5Tget_sign(type) == H5T_SGN_NONE ? ElementKind::unsigned_integer
                                                     : ElementKind::signed_integer;
  } else if (kind == H5T_FLOAT && word && size > 1) {
    element.kind = ElementKind::floating;
  } else {
    return element;
  }
  element.big_endian = size > 1 && H5Tget_order(type) == H5T_ORDER_BE;
  return element;
}

void add_columns(hid_t type, std::vector<codecs::Column>& columns);

void add_column(const ElementType& type, std::uint32_t count,
                std::vector<codecs::Column>& columns) {
  if (count == 0) return;
  if (!columns.empty() && columns.back().type == type) {
    columns.back().count += count;
  } else {
    columns.push_back({type, count});
  }
}

/// Adds the members of a compound type in their order, with padding as bytes.
void add_members(hid_t type, std::vector<codecs::Column>& columns) {
  std::size_t at = 0;
  for (unsigned m = 0; m < static_cast<unsigned>(H5Tget_nmembers(type)); ++m) {
    const std::size_t offset = H5Tget_member_offset(type, m);
    add_column({}, static_cast<std::uint32_t>(offset - at), columns);
    const hid_t member = H5Tget_member_type(type, m);
    add_columns(member, columns);
    at = offset + H5Tget_size(member);
    H5Tclose(member);
  }
  add_column({}, static_cast<std::uint32_t>(H5Tget_size(type) - at), columns);
}

void add_columns(hid_t type, std::vector<codecs::Column>& columns) {
  if (H5Tget_class(type) == H5T_COMPOUND) return add_members(type, columns);
  if (H5Tget_class(type) == H5T_ARRAY) {
    const hid_t inner = H5Tget_super(type);
    const std::size_t count = H5Tget_size(type) / H5Tget_size(inner);
    for (std::size_t i = 0; i < count; ++i) add_columns(inner, columns);
    H5Tclose(inner);
    return;
  }
  add_column(type_of(type), 1, columns);
}

Shape shape_of(hid_t space) {
  std::vector<hsize_t> extent(
      static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space), 0)));
  if (extent.empty())
    return Shape::flat(static_cast<std::uint32_t>(H5Sget_simple_extent_npoints(space)));
  H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  while (extent.size() > Shape::max_rank) {
    extent[1] *= extent[0];
    extent.erase(extent.begin());
  }
  Shape shape{static_cast<std::uint8_t>(extent.size()), {}};
  for (std::size_t i = 0; i < extent.size(); ++i)
    shape.extent[i] = static_cast<std::uint32_t>(extent[i]);
  return shape;
}

struct Collector {
  Set set;
  std::map<std::string, std::size_t> numbers;  // numbers of variables, by name and type

  void add(const char* path, hid_t dataset) {
    const hid_t type = H5Dget_type(dataset);
    const hid_t space = H5Dget_space(dataset);
    if (H5Tdetect_class(type, H5T_VLEN) <= 0 && H5Tis_variable_str(type) <= 0) {
      const ElementType element = type_of(type);
      const Shape shape = shape_of(space);
      const std::string name = masked(path);
      const std::string key = name + '/' + std::to_string(static_cast<int>(element.kind)) + '/' +
                              std::to_string(element.size) + (element.big_endian ? "b" : "l");
      const auto [place, is_new] = numbers.try_emplace(key, set.variables.size());
      if (is_new) {
        set.variables.push_back({name, {element, {}}, {}, {}});
        if (H5Tget_class(type) == H5T_COMPOUND) {
          add_columns(type, set.variables.back().columns);
        }
      }
      Variable& variable = set.variables[place->second];
      const std::size_t begin = variable.raw.size();
      variable.raw.resize(begin + static_cast<std::size_t>(shape.count()) * element.size);
      variable.layout.bricks.push_back(shape);
      if (shape.count() != 0) {
        H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, variable.raw.data() + begin);
      }
    }
    H5Sclose(space);
    H5Tclose(type);
  }
};

herr_t visit(hid_t group, const char* path, const H5O_info2_t* info, void* data) {
  if (info->type != H5O_TYPE_DATASET) return 0;
  const hid_t dataset = H5Dopen2(group, path, H5P_DEFAULT);
  if (dataset < 0) return -1;
  static_cast<Collector*>(data)->add(path, dataset);
  H5Dclose(dataset);
  return 0;
}

}  // namespace

Result<std::vector<std::string>> files_in(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.is_regular_file() && entry.path().filename().string()[0] != '.') {
      files.push_back(entry.path().string());
    }
  }
  if (error || files.empty()) return Error{Cause::system, directory + ": no files to read"};
  std::sort(files.begin(), files.end());
  return files;
}

Result<Set> read_set(const std::vector<std::string>& files) {
  Collector collector;
  for (const std::string& path : files) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return Error{Cause::system, path + ": not an HDF5 file that can be read"};
    const herr_t status =
        H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, visit, &collector, H5O_INFO_BASIC);
    H5Fclose(file);
    if (status < 0) return Error{Cause::system, path + ": cannot be read"};
    collector.set.file_bytes += std::filesystem::file_size(path);
  }
  return std::move(collector.set);
}

}  // namespace mcr::bench
