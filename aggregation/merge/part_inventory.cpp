// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/part_inventory.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "aggregation/merge/native_file.hpp"

namespace mcr::aggregation {
namespace {

// Larger attributes are not shown in the container, but are restored with the skeleton, like all
// attributes.
constexpr std::size_t max_attribute_bytes = 64 * 1024;
constexpr std::size_t max_attributes = 256;  // per object
// Datasets with larger elements stay in the skeleton, because a chunk holds at least one element.
constexpr std::size_t max_type_bytes = 256U << 20;

Error hdf5_error(const std::string& what) { return {Cause::damaged, "HDF5: " + what}; }

Result<std::uint64_t> user_block_bytes(hid_t file) {
  const OwnedId properties(H5Fget_create_plist(file));
  hsize_t bytes = 0;
  if (H5Pget_userblock(properties.get(), &bytes) < 0) return hdf5_error("no user block's size");
  return bytes;
}

struct FoundObject {
  std::string path;
  H5O_type_t type;
  hsize_t attributes;
  haddr_t address;  ///< of the object's header, as in the file
};

herr_t note_object(hid_t object, const char* name, const H5O_info2_t* info, void* found) {
  haddr_t address = HADDR_UNDEF;
  H5VLnative_token_to_addr(object, info->token, &address);
  const std::string_view path(name);
  static_cast<std::vector<FoundObject>*>(found)->push_back(
      {path == "." ? "" : std::string(path), info->type, info->num_attrs, address});
  return 0;
}

Result<AttributeValue> read_attribute(hid_t attribute, const char* name, Datatypes& types) {
  const OwnedId type(H5Aget_type(attribute));
  const OwnedId space(H5Aget_space(attribute));
  AttributeValue result;
  result.name = name;
  result.type = MCR_TRY(types.find_or_add(type.get()));
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  std::size_t encoded = 0;
  if (count < 0 || H5Sencode2(space.get(), nullptr, &encoded, H5P_DEFAULT) < 0) {
    return hdf5_error("dataspace cannot be read");
  }
  result.dataspace.resize(encoded);
  if (H5Sencode2(space.get(), result.dataspace.data(), &encoded, H5P_DEFAULT) < 0) {
    return hdf5_error("dataspace cannot be read");
  }
  const auto bytes = static_cast<std::size_t>(count) * types[result.type].bytes;
  if (bytes > max_attribute_bytes) return hdf5_error("attribute too large to be shown");
  result.value.resize(bytes);
  if (!types[result.type].refers_to_heap) {
    if (bytes != 0 && H5Aread(attribute, type.get(), result.value.data()) < 0) {
      return hdf5_error("attribute cannot be read");
    }
    return result;
  }
  if (H5Tis_variable_str(type.get()) <= 0) return hdf5_error("attribute refers to its file");
  std::vector<char*> strings(static_cast<std::size_t>(count));
  if (count != 0 && H5Aread(attribute, type.get(), strings.data()) < 0) {
    return hdf5_error("attribute cannot be read");
  }
  for (const char* string : strings) result.strings.emplace_back(string == nullptr ? "" : string);
  if (count != 0) H5Treclaim(type.get(), space.get(), H5P_DEFAULT, strings.data());
  result.value.clear();
  return result;
}

struct AttributeSearch {
  Datatypes& types;
  std::vector<AttributeValue> found;
};

herr_t note_attribute(hid_t object, const char* name, const H5A_info_t*, void* search) {
  auto& attributes = *static_cast<AttributeSearch*>(search);
  const OwnedId attribute(H5Aopen(object, name, H5P_DEFAULT));
  if (attribute.is_valid()) {
    auto value = read_attribute(attribute.get(), name, attributes.types);
    if (value) attributes.found.push_back(std::move(*value));
  }
  return attributes.found.size() < max_attributes ? 0 : 1;
}

std::vector<AttributeValue> read_attributes(hid_t object, Datatypes& types) {
  AttributeSearch search{types, {}};
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, note_attribute, &search);
  return std::move(search.found);
}

struct ChunkSearch {
  std::vector<Extent> extents;
};

int note_chunk(const hsize_t*, unsigned, haddr_t address, hsize_t size, void* search) {
  if (address != HADDR_UNDEF && size != 0) {
    static_cast<ChunkSearch*>(search)->extents.push_back({address, size});
  }
  return H5_ITER_CONT;
}

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return UINT64_MAX;
  }
  return count;
}

/// Fills form, shape and extents. Returns false if the raw data cannot be merged, for example
/// because it is not entirely in the file or refers to the file's heap.
bool find_raw_data(hid_t dataset, const Datatypes& types, DatasetInfo& info) {
  const Datatype& type = types[info.type];
  const OwnedId properties(H5Dget_create_plist(dataset));
  const H5D_layout_t layout = H5Pget_layout(properties.get());
  // This check must come before any call that asks for the dataset's extent. For the extent of a
  // virtual dataset, HDF5 opens the source files, and another user may have put a pipe at the name
  // of a source file.
  if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) return false;
  const OwnedId space(H5Dget_space(dataset));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (type.refers_to_heap || rank < 0 || rank > H5S_MAX_RANK || type.bytes == 0 ||
      type.bytes > max_type_bytes || H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    return false;
  }
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const auto count = static_cast<std::size_t>(rank);
  switch (layout) {
    case H5D_CONTIGUOUS: {
      if (H5Pget_external_count(properties.get()) != 0) return false;
      H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
      info.shape.assign(extents.begin(), extents.begin() + rank);
      const haddr_t offset = H5Dget_offset(dataset);
      const hsize_t bytes = H5Dget_storage_size(dataset);
      if (offset == HADDR_UNDEF || bytes == 0) return true;  // never written
      if (bytes % type.bytes != 0 || product(info.shape) != bytes / type.bytes) return false;
      info.extents = {{offset, bytes}};
      return true;
    }
    case H5D_CHUNKED: {
      if (H5Pget_chunk(properties.get(), H5S_MAX_RANK, extents.data()) != rank) return false;
      const bool filtered = H5Pget_nfilters(properties.get()) != 0;
      ChunkSearch search;
      if (H5Dchunk_iter(dataset, H5P_DEFAULT, note_chunk, &search) < 0) return false;
      info.extents = std::move(search.extents);
      info.form = filtered ? RawForm::opaque : RawForm::tiles;
      if (filtered) return true;
      info.shape.assign(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(count));
      const std::uint64_t elements = product(info.shape);
      return std::all_of(info.extents.begin(), info.extents.end(), [&](const Extent& extent) {
        return extent.bytes % type.bytes == 0 && extent.bytes / type.bytes == elements;
      });
    }
    default:
      return false;
  }
}

/// Removes datasets whose extents lie outside the part or overlap, as in a damaged file. Returns
/// true if there were any.
bool drop_impossible(std::vector<DatasetInfo>& datasets, std::uint64_t size) {
  struct Place {
    Extent extent;
    std::size_t dataset;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    for (const Extent& extent : datasets[i].extents) places.push_back({extent, i});
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.extent.offset < b.extent.offset; });
  std::vector<bool> drop(datasets.size());
  std::uint64_t end = 0;
  for (const Place& place : places) {
    const Extent& extent = place.extent;
    if (extent.offset < end || extent.offset > size || extent.bytes > size - extent.offset) {
      drop[place.dataset] = true;
    } else {
      end = extent.offset + extent.bytes;
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    if (drop[i]) continue;
    if (kept != i) datasets[kept] = std::move(datasets[i]);
    ++kept;
  }
  const bool any = kept != datasets.size();
  datasets.resize(kept);
  return any;
}

}  // namespace

Result<WalkedPart> read_part_layout(const std::string& path, std::uint64_t size, Datatypes& types) {
  OwnedId file = MCR_TRY(open_natively(path));
  std::vector<FoundObject> objects;
  if (H5Ovisit3(file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, note_object, &objects,
                H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) < 0) {
    return hdf5_error(path + " cannot be walked");
  }
  const std::uint32_t opaque = MCR_TRY(types.opaque_bytes());
  WalkedPart walked;
  walked.base_address = MCR_TRY(user_block_bytes(file.get()));
  walked.layout = std::make_shared<PartLayout>();
  PartLayout& layout = *walked.layout;
  for (FoundObject& found : objects) {
    if (found.address != HADDR_UNDEF) {
      walked.objects.push_back({found.path, found.address + walked.base_address, ObjectHeader::none,
                                ObjectHeader::none});
    }
    const bool is_group = found.type == H5O_TYPE_GROUP && found.attributes != 0;
    if (!is_group && found.type != H5O_TYPE_DATASET) continue;
    const OwnedId object(
        H5Oopen(file.get(), found.path.empty() ? "/" : found.path.c_str(), H5P_DEFAULT));
    if (!object.is_valid()) continue;
    if (is_group) {
      if (found.address != HADDR_UNDEF) walked.objects.back().group = layout.groups.size();
      layout.groups.push_back({std::move(found.path), read_attributes(object.get(), types)});
      continue;
    }
    const OwnedId type_id(H5Dget_type(object.get()));
    const auto type = types.find_or_add(type_id.get());
    if (!type) continue;
    DatasetInfo info;
    info.path = std::move(found.path);
    info.type = *type;
    if (!find_raw_data(object.get(), types, info)) continue;
    if (info.form == RawForm::opaque) info.type = opaque;
    if (found.attributes != 0) info.attributes = read_attributes(object.get(), types);
    if (found.address != HADDR_UNDEF) walked.objects.back().dataset = layout.datasets.size();
    layout.datasets.push_back(std::move(info));
  }
  // Removing a dataset invalidates the dataset numbers in `walked.objects`. The layout of a damaged
  // part must not be reused for other parts anyway.
  if (drop_impossible(layout.datasets, size)) walked.objects.clear();
  return walked;
}

}  // namespace mcr::aggregation
